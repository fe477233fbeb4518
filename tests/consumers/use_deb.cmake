# Tests the Debian package: its fields, its files, and a tool that runs from what it unpacks.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
skip_without(DPKG_DEB dpkg-deb)
skip_without(SHLIBDEPS dpkg-shlibdeps)
set(directory ${work}/deb)
file(REMOVE_RECURSE ${directory})
run(${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${directory})
file(GLOB package ${directory}/*.deb)

run(${DPKG_DEB} --info ${package})
if(NOT output MATCHES "Depends:[^\n]*libc6 \\(>= 2" OR NOT output MATCHES "Version: ${VERSION}\n")
  message(FATAL_ERROR "the package says of itself:\n${output}")
endif()
string(REGEX MATCH "Depends:[^\n]*" depends "${output}")
message("${depends}")
string(REGEX REPLACE "Depends: |\\([^)]*\\)|[ ,]+" ";" names "${depends}")
foreach(name IN LISTS names)
  if(NOT name STREQUAL "" AND NOT name MATCHES "^(libc6|libgcc-s1|libstdc\\+\\+6)$")
    message(FATAL_ERROR "the package depends on ${name}")
  endif()
endforeach()

run(${DPKG_DEB} --extract ${package} ${directory}/root)
foreach(file bin/tmm-tune bin/tmm-db bin/tmm-gen bin/tmm-bench include/tmm/tmm.h lib/libtmm.so lib/libtmm.a lib/pkgconfig/tmm.pc lib/cmake/tmm/tmmConfig.cmake
        share/man/man1/tmm-tune.1.gz share/bash-completion/completions/tmm-db share/doc/tmm/README.md share/doc/tmm/LICENSE
        share/doc/tmm/copyright share/doc/tmm/changelog.gz share/lintian/overrides/tmm)
  if(NOT EXISTS ${directory}/root/usr/${file})
    message(FATAL_ERROR "the package lacks /usr/${file}")
  endif()
endforeach()
run(${directory}/root/usr/bin/tmm-gen --shape 64x64x64 --gpu-arch 90 --stub)

# What others are to install is looked at as Debian looks at its packages.
find_program(LINTIAN lintian)
if(LINTIAN)
  execute_process(COMMAND ${LINTIAN} --fail-on error,warning --allow-root --no-cfg ${package} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "lintian says:\n${output}${errors}")
  endif()
  message("lintian: nothing to object to")
else()
  message("not checked: lintian is not here")
endif()
