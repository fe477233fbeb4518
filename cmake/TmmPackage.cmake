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

set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/tmm)
foreach(file README.md LICENSE CHANGELOG.md)
  if(EXISTS ${tmm_SOURCE_DIR}/${file})
    install(FILES ${tmm_SOURCE_DIR}/${file} DESTINATION ${documents})
  endif()
endforeach()
install(DIRECTORY ${tmm_SOURCE_DIR}/docs ${tmm_SOURCE_DIR}/examples DESTINATION ${documents})

# A Debian package installs on the distribution that it was built on and on later ones: libc and libstdc++ are all its tools need, and libc its libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tmm)
set(CPACK_PACKAGE_CONTACT "The authors of tmm <tmm@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
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
if(NOT TMM_DPKG_SHLIBDEPS)
  message(FATAL_ERROR "dpkg-shlibdeps, which finds what the package depends on, is not here: apt-get install dpkg-dev")
endif()
]])
  set(CPACK_PRE_BUILD_SCRIPTS ${tmm_BINARY_DIR}/needs_dpkg_dev.cmake)
endif()
# The emulated device needs a C++ compiler. NVRTC comes with the CUDA toolkit, from pip or from Debian's non-free packages.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libnvrtc12")
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
