# FetchContent, then add_subdirectory in the same build directory: a project of other settings takes the sources in.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(build ${work}/subproject)
file(REMOVE_RECURSE ${build})
foreach(way FetchContent add_subdirectory)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${build} -G ${GENERATOR} -DTMM_SOURCE=${SOURCE} -DWAY=${way} ${compilers}
      -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=Debug -DTMM_CUDA_INCLUDE_DIR=${CUDA_INCLUDE})
  run(${CMAKE_COMMAND} --build ${build} --parallel ${JOBS})
  run_programs(${build} c99_shared cpp17_shared cpp20_shared c99_static cpp17_static cpp20_static)
  message("${way}: right")
endforeach()
