# Cross compiles for 64-bit Arm with Debian's compiler (g++-aarch64-linux-gnu). scripts/test_arm puts the libraries that tmm is linked with
# into .deps/arm64; headers that name no machine are the build machine's. qemu-user runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/../.deps/arm64 ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The headers of SQLite, xxhash and zlib that belong to the libraries, and those that depend on the machine.
include_directories(BEFORE SYSTEM ${CMAKE_FIND_ROOT_PATH}/usr/include ${CMAKE_FIND_ROOT_PATH}/usr/include/aarch64-linux-gnu)

find_program(TMM_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(TMM_QEMU)
  # The loader and the C library are those of the compiler.
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TMM_QEMU} -L /usr/aarch64-linux-gnu)
endif()
