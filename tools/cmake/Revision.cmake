# Run by every build (cmake -DSOURCE=… -DHEADER=… -P): writes the revision of the checkout into a
# header, and touches it only when it changes.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --tags
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(revision "")
endif()
set(text "#define RUNG_GIT_REVISION \"${revision}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${HEADER} "${text}")
endif()
