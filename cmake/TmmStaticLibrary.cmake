# tmm::tmm_static: libtmm.a, one object that holds tmm and the libraries it stands on. All symbols but the C interface are local in it,
# so that a program may have another SQLite, Boost or fmt of its own.
set(archive ${CMAKE_CURRENT_BINARY_DIR}/libtmm.a)
set(object ${CMAKE_CURRENT_BINARY_DIR}/tmm_static.o)
set(parts tmm_runtime tmm_db tmm_generator tmm_base tmm_fmt)
foreach(part IN LISTS parts)
  list(APPEND part_files $<TARGET_FILE:${part}>)
endforeach()
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive} ${object}
  # Without --force-group-allocation functions that several files define inline would stay in groups named by symbols no longer global.
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:tmm_c_api> --start-group ${part_files}
          ${TMM_SQLITE_ARCHIVE} ${TMM_SQLITE3_ARCHIVE} ${TMM_CONTEXT_ARCHIVE} ${TMM_XXHASH_ARCHIVE} ${TMM_ZLIB_ARCHIVE} --end-group
  COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=tmm[A-Z]*" ${object}
  COMMAND ${CMAKE_AR} rcs ${archive} ${object}
  BYPRODUCTS ${object}
  DEPENDS tmm_c_api $<TARGET_OBJECTS:tmm_c_api> ${parts}
  COMMAND_EXPAND_LISTS VERBATIM)

add_custom_target(tmm_archive DEPENDS ${archive})
# Whoever builds the shared library may install both.
if(TMM_INSTALL)
  add_dependencies(tmm tmm_archive)
endif()
add_library(tmm_static STATIC IMPORTED GLOBAL)
add_library(tmm::tmm_static ALIAS tmm_static)
add_dependencies(tmm_static tmm_archive)
set_target_properties(tmm_static PROPERTIES
  IMPORTED_LOCATION ${archive}
  INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/include
  INTERFACE_LINK_LIBRARIES "stdc++;m;pthread;dl")
