# Images ahead of time: the committed PTX of generated/, and the default set compiled for
# RUNG_TARGETS by the program that was just built. They stand where that program looks first, in
# the build tree and in an installation: share/rung/images.

set(RUNG_IMAGES ${PROJECT_BINARY_DIR}/share/rung/images)
# The sources as well: the manifest ties each PTX to its source, and one can change alone.
file(GLOB committed CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/generated/ptx/sm_75/*.ptx
     ${PROJECT_SOURCE_DIR}/generated/cu/*.cu)

set(targets "")
foreach(target IN LISTS RUNG_TARGETS)
  string(REGEX REPLACE "^sm_" "" number "${target}")
  if(NOT number MATCHES "^[0-9]+$")
    message(FATAL_ERROR "RUNG_TARGETS: '${target}' is no target; write numbers: -DRUNG_TARGETS=\"75;90\"")
  endif()
  list(APPEND targets sm_${number})
endforeach()
list(JOIN targets "," targets)

set(images_depend ${committed} ${PROJECT_BINARY_DIR}/images.targets ${PROJECT_SOURCE_DIR}/tools/cmake/Images.cmake)
if(targets)
  list(APPEND images_depend rung)
endif()
set(images_stamp ${PROJECT_BINARY_DIR}/images.stamp)
add_custom_command(OUTPUT ${images_stamp}
  COMMAND ${CMAKE_COMMAND} -DGENERATED=${PROJECT_SOURCE_DIR}/generated -DIMAGES=${RUNG_IMAGES}
          -DPROGRAM=$<TARGET_FILE:rung> -DTARGETS=${targets}
          -P ${PROJECT_SOURCE_DIR}/tools/cmake/Images.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${images_stamp}
  DEPENDS ${images_depend}
  COMMENT "Images ahead of time: committed PTX ${targets}" VERBATIM)
# A change of RUNG_TARGETS makes them again.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/images.targets CONTENT "${targets}\n")
add_custom_target(images ALL DEPENDS ${images_stamp})

install(DIRECTORY ${RUNG_IMAGES}/ DESTINATION share/rung/images)
