# What is installed beside the tools, each of which has its own rule, and the package that cpack makes.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tmm)

# A component of its own: who only links against tmm needs no tool built.
install(TARGETS tmm EXPORT tmmTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT library)
install(EXPORT tmmTargets NAMESPACE tmm:: DESTINATION ${package} COMPONENT library)
install(FILES ${tmm_SOURCE_DIR}/runtime/include/tmm/tmm.h ${tmm_SOURCE_DIR}/runtime/include/tmm/tmm.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tmm COMPONENT library)
# They are loaded by LD_PRELOAD; nothing is linked with them.
install(TARGETS tmm_blas tmm_cublas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
set(private_libraries "")
if(TARGET tmm_static)
  get_target_property(private_libraries tmm_static INTERFACE_LINK_LIBRARIES)
  install(FILES $<TARGET_PROPERTY:tmm_static,IMPORTED_LOCATION> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()

configure_package_config_file(${tmm_SOURCE_DIR}/cmake/tmmConfig.cmake.in ${tmm_BINARY_DIR}/tmmConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# An installed tmm serves who asks for its own version or any older one of the same major version: the C interface only grows.
write_basic_package_version_file(${tmm_BINARY_DIR}/tmmConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${tmm_BINARY_DIR}/tmmConfig.cmake ${tmm_BINARY_DIR}/tmmConfigVersion.cmake DESTINATION ${package} COMPONENT library)

file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
list(TRANSFORM private_libraries PREPEND "-l" OUTPUT_VARIABLE pc_private_libraries)
list(JOIN pc_private_libraries " " pc_private_libraries)
configure_file(${tmm_SOURCE_DIR}/cmake/tmm.pc.in ${tmm_BINARY_DIR}/tmm.pc @ONLY)
install(FILES ${tmm_BINARY_DIR}/tmm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

include(TmmPages)
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/tmm)
file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${tmm_SOURCE_DIR} ${tmm_SOURCE_DIR}/docs/*.md)
tmm_install_pages(${documents} README.md CHANGELOG.md LICENSE docs/schema examples ${pages})
install(FILES ${tmm_SOURCE_DIR}/cmake/debian/copyright DESTINATION ${documents})

# A Debian package installs on the distribution that it was built on and on later ones: libc and libstdc++ are all its tools need, and libc its libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tmm)
# Who makes a package is whom its users write to: Debian's variables say who that is, else git does.
execute_process(COMMAND git -C ${tmm_SOURCE_DIR} log -1 --format=%an%n%ae OUTPUT_VARIABLE author ERROR_QUIET)
string(REGEX MATCH "^([^\n]+)\n([^\n]+)\n" author "${author}")
set(CPACK_PACKAGE_CONTACT "${CMAKE_MATCH_1} <${CMAKE_MATCH_2}>")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
elseif(author STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "The authors of tmm <maintainers@tmm.invalid>")
endif()
string(STRIP "${CPACK_PACKAGE_CONTACT}" CPACK_PACKAGE_CONTACT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "autotuning generator of matrix multiplication kernels")
set(CPACK_PACKAGE_DESCRIPTION "tmm multiplies matrices on an NVIDIA GPU with kernels that it writes, compiles,
measures and picks itself. tmm-tune finds the fastest kernel of each shape,
tmm-db shows and moves what was found, and libtmm runs it. Without a GPU the
same kernels run emulated on the CPU.")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${tmm_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_PRE_BUILD_SCRIPTS ${tmm_SOURCE_DIR}/cmake/DebianFiles.cmake)
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps would name the packages of the cross compiler, and cpack this machine's architecture.
  string(REPLACE aarch64 arm64 CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
  file(WRITE ${tmm_BINARY_DIR}/libc_version.c "#include <features.h>\nversion __GLIBC__.__GLIBC_MINOR__\n")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${tmm_BINARY_DIR}/libc_version.c OUTPUT_VARIABLE libc_version COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE ".*version ([0-9]+) *[.] *([0-9]+).*" "\\1.\\2" libc_version "${libc_version}")
  string(REGEX MATCH "^[0-9]+" compiler_version ${CMAKE_CXX_COMPILER_VERSION})
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${libc_version}), libgcc-s1 (>= 3.0), libstdc++6 (>= ${compiler_version})")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # Without it cpack makes a package that depends on nothing, and installs where it can't run.
  file(WRITE ${tmm_BINARY_DIR}/needs_dpkg_dev.cmake [[
find_program(TMM_DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(TMM_FILE file)
if(NOT TMM_DPKG_SHLIBDEPS OR NOT TMM_FILE)
  message(FATAL_ERROR "dpkg-shlibdeps and file, which find what the package depends on, are not both here: apt-get install dpkg-dev file")
endif()
]])
  list(APPEND CPACK_PRE_BUILD_SCRIPTS ${tmm_BINARY_DIR}/needs_dpkg_dev.cmake)
endif()
# The emulated device needs a C++ compiler. NVRTC comes with the CUDA toolkit, from pip or from Debian's non-free packages.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libnvrtc12")
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
