# Run by the build (see RungImages.cmake): makes the folder of images anew.
file(REMOVE_RECURSE ${IMAGES})
file(GLOB ptx RELATIVE ${GENERATED}/ptx/sm_75 ${GENERATED}/ptx/sm_75/*.ptx)
file(MAKE_DIRECTORY ${IMAGES}/sm_75)

# The manifest ties each PTX to the source that it was made from (host/image/folder.h).
set(manifest "# the committed PTX of generated/\n")
foreach(name IN LISTS ptx)
  string(REGEX REPLACE "\\.ptx$" "" symbol ${name})
  file(COPY ${GENERATED}/ptx/sm_75/${name} DESTINATION ${IMAGES}/sm_75)
  file(SHA256 ${GENERATED}/ptx/sm_75/${name} ptx_hash)
  string(APPEND manifest "${ptx_hash}  sm_75/${name}\n")
  if(EXISTS ${GENERATED}/cu/${symbol}.cu)
    file(COPY ${GENERATED}/cu/${symbol}.cu DESTINATION ${IMAGES}/cu)
    file(SHA256 ${GENERATED}/cu/${symbol}.cu cu_hash)
    string(APPEND manifest "${cu_hash}  cu/${symbol}.cu\n")
  endif()
endforeach()
file(WRITE ${IMAGES}/MANIFEST "${manifest}")

if(TARGETS)
  execute_process(COMMAND ${PROGRAM} build --version all --block 32:1024:*2 --bound const,runtime
                          --op sum,dot --target ${TARGETS} -o ${IMAGES} --quiet
                  RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "rung build failed for ${TARGETS}; leave RUNG_TARGETS empty to build without images")
  endif()
endif()
