# Writes the files of FOLDER named in FILES (separated by '|') as C strings: `cmake -DFOLDER=… -DFILES=…
# -DOUTPUT=… -P embed.cmake`. Names stay relative to FOLDER, so no path of the machine gets in.
string(REPLACE "|" ";" files "${FILES}")
list(SORT files)
set(rows "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
  # A string literal a source line keeps every literal within what C promises.
  string(REGEX REPLACE "\\\\x0a" "\\\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${file}\",\n     \"${text}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "/* Written by tools/cmake/embed.cmake. */
#include \"gen/embedded.h\"

const struct rung_embedded rung_embedded_files[] = {
${rows}};
const size_t rung_embedded_count = ${count};
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
