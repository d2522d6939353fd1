# Run by the build (cmake -DCUBINS=… -DOUTPUT=… -P): the table of host/sum/images.h from the cubins
# of librung, named sum_<element>_sm_<target>.cubin and separated by '|'; none is an empty table.
string(REPLACE "|" ";" cubins "${CUBINS}")
set(arrays "")
set(rows "")
set(count 0)
foreach(cubin IN LISTS cubins)
  get_filename_component(name ${cubin} NAME_WE)
  string(REGEX MATCH "^sum_([a-z0-9]+)_sm_([0-9]+)$" match ${name})
  string(TOUPPER ${CMAKE_MATCH_1} element)
  set(target ${CMAKE_MATCH_2})
  file(READ ${cubin} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "_Alignas(16) static const unsigned char ${name}[] = {${bytes}};\n")
  string(APPEND rows "    {RUNG_SUM_${element}, ${target}, ${name}},\n")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  set(rows "    {RUNG_SUM_F32, 0, NULL},\n") # no array of C is empty
endif()
file(WRITE ${OUTPUT}.new "/* Written by tools/cmake/SumImages.cmake. */
#include \"sum/images.h\"

${arrays}
const struct rung_sum_image rung_sum_images[] = {
${rows}};
const size_t rung_sum_image_count = ${count};
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
