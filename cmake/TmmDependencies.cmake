# The libraries tmm stands on, as imported targets: tmm_fmt, tmm_json, tmm_context, tmm_sqlite, tmm_xxhash,
# tmm_cuda_headers. All are Debian packages, but for cuda.h and nvrtc.h, which come with the toolkit or PyPI's wheels.
if(TMM_STATIC_DEPENDENCIES)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_library(TMM_SQLITECPP_LIBRARY SQLiteCpp REQUIRED)
find_library(TMM_SQLITE_LIBRARY sqlite3 REQUIRED)
find_library(TMM_XXHASH_LIBRARY xxhash REQUIRED)
unset(CMAKE_FIND_LIBRARY_SUFFIXES)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so .a)

add_library(tmm_fmt INTERFACE)
# As headers alone, fmt takes most of the time that a file compiles, but Debian has no static library of it.
target_link_libraries(tmm_fmt INTERFACE $<IF:$<BOOL:${TMM_STATIC_DEPENDENCIES}>,fmt::fmt-header-only,fmt::fmt>)
add_library(tmm_json INTERFACE)
target_link_libraries(tmm_json INTERFACE nlohmann_json::nlohmann_json)
add_library(tmm_context INTERFACE)
target_link_libraries(tmm_context INTERFACE Boost::context)
add_library(tmm_sqlite INTERFACE)
target_link_libraries(tmm_sqlite INTERFACE ${TMM_SQLITECPP_LIBRARY} ${TMM_SQLITE_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
add_library(tmm_xxhash INTERFACE)
target_link_libraries(tmm_xxhash INTERFACE ${TMM_XXHASH_LIBRARY})

find_path(TMM_CUDA_H_DIR cuda.h
  HINTS ${TMM_CUDA_INCLUDE_DIR} ${CMAKE_SOURCE_DIR}/.deps/cuda/include /usr/local/cuda/include $ENV{CUDA_HOME}/include REQUIRED)
find_path(TMM_NVRTC_H_DIR nvrtc.h
  HINTS ${TMM_CUDA_INCLUDE_DIR} ${CMAKE_SOURCE_DIR}/.deps/cuda/include /usr/local/cuda/include $ENV{CUDA_HOME}/include REQUIRED)
add_library(tmm_cuda_headers INTERFACE)
target_include_directories(tmm_cuda_headers SYSTEM INTERFACE ${TMM_CUDA_H_DIR} ${TMM_NVRTC_H_DIR})
