# The libraries tmm stands on, as targets: tmm_fmt, tmm_json, tmm_context, tmm_sqlite, tmm_xxhash, tmm_zlib,
# tmm_cuda_headers. All are Debian packages, but for cuda.h and nvrtc.h, which come with the toolkit or PyPI's wheels.
# They are found as files, not as packages: a project that takes tmm in may have targets of the same names.
find_package(Threads REQUIRED)

# What is loaded into other people's programs brings no C++ library: theirs may be a newer one, which the system's, loaded first, would stand
# in the way of. A sanitizer needs the shared one.
add_library(tmm_own_cxx_library INTERFACE)
if(TMM_STATIC_DEPENDENCIES AND NOT TMM_SANITIZE AND NOT TMM_SANITIZE_THREADS)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -static-libstdc++ TMM_HAS_STATIC_CXX_LIBRARY)
  if(NOT TMM_HAS_STATIC_CXX_LIBRARY)
    message(FATAL_ERROR "tmm needs the static C++ library, libstdc++.a: install the package that has it, or take the shared one with "
      "-DTMM_STATIC_DEPENDENCIES=OFF")
  endif()
  target_link_options(tmm_own_cxx_library INTERFACE -static-libstdc++ -static-libgcc LINKER:--gc-sections)
endif()

# tmm_add_dependency(target header [library]): an interface target with the header's directory and the library. Distributions'
# archives are made for programs, not for shared libraries; libtmm.so can take them in because it exports none of their symbols.
function(tmm_add_dependency target header)
  string(TOUPPER ${target} variable)
  find_path(${variable}_INCLUDE_DIR ${header})
  mark_as_advanced(${variable}_INCLUDE_DIR)
  if(NOT ${variable}_INCLUDE_DIR)
    message(FATAL_ERROR "tmm needs the header ${header}: install the development package that has it")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${variable}_INCLUDE_DIR})
  if(ARGC LESS 3)
    return()
  endif()
  if(TMM_STATIC_DEPENDENCIES)
    set(file lib${ARGV2}.a)
    set(found ${variable}_ARCHIVE)
    set(advice ", or use shared libraries with -DTMM_STATIC_DEPENDENCIES=OFF")
  else()
    set(file ${ARGV2})
    # Older build folders keep another library under the name without "shared".
    set(found ${variable}_SHARED_LIBRARY)
  endif()
  find_library(${found} ${file})
  mark_as_advanced(${found})
  if(NOT ${found})
    message(FATAL_ERROR "tmm needs the library ${file}: install the development package that has it${advice}")
  endif()
  target_link_libraries(${target} INTERFACE ${${found}})
endfunction()

tmm_add_dependency(tmm_json nlohmann/json.hpp)
tmm_add_dependency(tmm_xxhash xxhash.h xxhash)
tmm_add_dependency(tmm_zlib zlib.h z)
tmm_add_dependency(tmm_context boost/context/fiber.hpp boost_context)
tmm_add_dependency(tmm_sqlite3 sqlite3.h sqlite3)
tmm_add_dependency(tmm_sqlite SQLiteCpp/SQLiteCpp.h SQLiteCpp)
target_link_libraries(tmm_sqlite INTERFACE tmm_sqlite3 Threads::Threads ${CMAKE_DL_LIBS})

# Debian has no static library of fmt, and as headers alone fmt doubles the time that a file takes to compile. So its functions are
# compiled once, here.
if(TMM_STATIC_DEPENDENCIES)
  tmm_add_dependency(tmm_fmt_headers fmt/format-inl.h)
  add_library(tmm_fmt STATIC ${tmm_SOURCE_DIR}/cmake/fmt_functions.cpp)
  target_link_libraries(tmm_fmt PUBLIC tmm_fmt_headers)
else()
  tmm_add_dependency(tmm_fmt fmt/format.h fmt)
endif()

foreach(header cuda nvrtc)
  string(TOUPPER TMM_${header}_H_DIR directory)
  find_path(${directory} ${header}.h HINTS ${TMM_CUDA_INCLUDE_DIR} ${tmm_SOURCE_DIR}/.deps/cuda/include
    ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES include)
  if(NOT ${directory})
    message(FATAL_ERROR "tmm needs ${header}.h to build, though no CUDA library: install the CUDA toolkit, or "
      "pip install nvidia-cuda-runtime nvidia-cuda-nvrtc; then -DTMM_CUDA_INCLUDE_DIR=<directory of ${header}.h>, "
      "such as site-packages/nvidia/cu13/include")
  endif()
endforeach()
add_library(tmm_cuda_headers INTERFACE)
target_include_directories(tmm_cuda_headers SYSTEM INTERFACE ${TMM_CUDA_H_DIR} ${TMM_NVRTC_H_DIR})

# Where there is no toolkit, scripts/quickstart puts NVRTC here; what runs in the build tree finds it, what is installed does not ask.
if(EXISTS ${tmm_SOURCE_DIR}/.deps/cuda/lib)
  list(APPEND CMAKE_BUILD_RPATH ${tmm_SOURCE_DIR}/.deps/cuda/lib)
endif()
