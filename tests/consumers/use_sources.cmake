# Tests FetchContent, then add_subdirectory in the same build directory: a project of other settings takes the sources in.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(build ${work}/subproject)
file(REMOVE_RECURSE ${build})
# A compiler cache knows what was built with the same options; without one, those that compile fastest are better.
if(LAUNCHER)
  string(TOUPPER ${BUILD_TYPE} upper_type)
  set(options -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE} "-DCMAKE_CXX_FLAGS_${upper_type}=${BUILD_TYPE_FLAGS}")
else()
  set(options -DCMAKE_BUILD_TYPE=Debug -DTMM_PRECOMPILE_HEADERS=ON)
endif()
foreach(way FetchContent add_subdirectory)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${build} -G ${GENERATOR} -DTMM_SOURCE=${SOURCE} -DWAY=${way} ${compilers}
      ${options} -DTMM_CUDA_INCLUDE_DIR=${CUDA_INCLUDE})
  run(${CMAKE_COMMAND} --build ${build} --parallel ${JOBS})
  run_programs(${build} c99_shared cpp17_shared cpp20_shared c99_static cpp17_static cpp20_static)
  message("${way}: right")
endforeach()
