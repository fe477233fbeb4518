# Installs the library, builds the examples against the installed package and runs them on the emulated device; checks that the
# library exports nothing but tmm's functions and that tmm.h is C99.
# cmake -DSOURCE=… -DBUILD=… -DC_COMPILER=… -DCXX_COMPILER=… -DNM=… -DFLAGS=… -P test_install.cmake
set(work ${BUILD}/test_install)
file(REMOVE_RECURSE ${work})
set(ENV{TMM_DB} ${work}/none.db)
set(ENV{TMM_CACHE_DIR} ${BUILD}/test_cache)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nexited with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix --component library)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples -B ${work}/examples -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_C_COMPILER=${C_COMPILER}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} "-DCMAKE_C_FLAGS=-std=c99 -pedantic -Wall -Wextra -Werror ${FLAGS}"
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Wshadow -Werror ${FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/examples)

run(${work}/examples/gemm_c)
if(NOT output MATCHES "C\\[3\\]\\[5\\] = ([1-9][0-9.]*), expected ([0-9.]+)" OR NOT CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
  message(FATAL_ERROR "gemm_c printed:\n${output}")
endif()
run(${work}/examples/gemm_cpp)
if(NOT output MATCHES "match: predicted" OR NOT output MATCHES "C\\[0\\]\\[0\\] = 384, expected 384")
  message(FATAL_ERROR "gemm_cpp printed:\n${output}")
endif()

file(GLOB_RECURSE libraries ${work}/prefix/libtmm.so)
run(${NM} -D --defined-only --format=posix ${libraries})
string(REGEX REPLACE "\n" ";" symbols "${output}")
set(functions 0)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "^tmm[A-Z][A-Za-z]+(@@TMM_0)? T")
    math(EXPR functions "${functions} + 1")
  elseif(NOT symbol STREQUAL "" AND NOT symbol MATCHES "^TMM_0(@@TMM_0)? A")
    message(FATAL_ERROR "libtmm.so exports '${symbol}'")
  endif()
endforeach()
if(functions LESS 16)
  message(FATAL_ERROR "libtmm.so exports only ${functions} functions:\n${output}")
endif()
