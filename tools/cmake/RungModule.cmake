# What every target of this project shares: warnings, the third-party libraries, and one function
# that makes a folder of host/ a static library.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# The CUDA headers (cuda.h, cudaTypedefs.h, nvrtc.h) are declarations only; nothing of CUDA is linked.
# Looked for where tools/setup unpacked NVIDIA's wheels, then in an installed toolkit.
find_path(RUNG_CUDA_INCLUDE cudaTypedefs.h
  HINTS ${PROJECT_BINARY_DIR}/cuda/nvidia/cu13/include ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda/include /opt/cuda/include
  PATH_SUFFIXES include
  DOC "Folder of cuda.h, cudaTypedefs.h and nvrtc.h")
if(NOT RUNG_CUDA_INCLUDE)
  message(FATAL_ERROR "cudaTypedefs.h not found: run tools/setup, or install a CUDA toolkit of 12.8 or later")
endif()
add_library(rung_cuda_headers INTERFACE)
target_include_directories(rung_cuda_headers SYSTEM INTERFACE ${RUNG_CUDA_INCLUDE})

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols)
pkg_check_modules(LIBMD REQUIRED IMPORTED_TARGET libmd)

# Prefers the archive of a library where there is one, so that the program runs on a machine that
# has none of the development packages.
function(rung_prefer_static imported archive)
  find_library(RUNG_ARCHIVE_${archive} ${archive})
  if(RUNG_ARCHIVE_${archive})
    set_target_properties(${imported} PROPERTIES INTERFACE_LINK_LIBRARIES ${RUNG_ARCHIVE_${archive}})
  endif()
endfunction()
rung_prefer_static(PkgConfig::JANSSON libjansson.a)
rung_prefer_static(PkgConfig::LIBMD libmd.a)

add_library(rung_options INTERFACE)
target_compile_options(rung_options INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
  $<$<BOOL:${RUNG_WERROR}>:-Werror>
  # Results must not depend on what the host compiler fuses: the simulator is bit-exact.
  -ffp-contract=off)

# Large buffers belong on the heap: a stack may be small, and a library does not choose its caller's.
# Sanitizers make frames larger.
add_library(rung_small_frames INTERFACE)
if(NOT CMAKE_C_FLAGS MATCHES "fsanitize")
  target_compile_options(rung_small_frames INTERFACE -Wframe-larger-than=16384)
endif()

# rung_module(name DEPENDS a b LINK targets...): host/<name>/*.c as the static library rung_<name>.
# Includes are written from host/ ("driver/driver.h"), so the path spells the dependency.
function(rung_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/${name}/*.c)
  if(NOT sources) # headers only
    add_library(rung_${name} INTERFACE)
    target_include_directories(rung_${name} INTERFACE ${PROJECT_SOURCE_DIR}/host)
    return()
  endif()
  add_library(rung_${name} STATIC ${sources})
  set_target_properties(rung_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(rung_${name} PUBLIC ${PROJECT_SOURCE_DIR}/host)
  target_link_libraries(rung_${name} PRIVATE rung_options rung_small_frames)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(rung_${name} PUBLIC rung_${dependency})
  endforeach()
  target_link_libraries(rung_${name} PUBLIC ${ARG_LINK})
endfunction()

# rung_embed_text(target symbol file): the file's text becomes `const char symbol[]` of the target.
function(rung_embed_text target symbol file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
    "\\1\n" bytes "${bytes}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
    "extern const char ${symbol}[];\nconst char ${symbol}[] = {\n${bytes}0};\n")
  target_sources(${target} PRIVATE ${output})
endfunction()

# rung_embed(target folder pattern...): the matching files below folder become rung_embedded_files.
function(rung_embed target folder)
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE patterns)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${patterns})
  list(TRANSFORM files PREPEND ${folder}/ OUTPUT_VARIABLE paths)
  list(JOIN files "|" joined)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} "-DFILES=${joined}" -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/tools/cmake/embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/tools/cmake/embed.cmake
    COMMENT "Embedding ${folder}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
