# What a Debian package has besides what is installed, in the folder that cpack has installed to: a changelog, compressed manual pages, and
# what lintian need not look at.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
find_program(GZIP gzip REQUIRED)

# compress(file): without a name and a time of its own, so that the same content gives the same package.
function(compress file)
  execute_process(COMMAND ${GZIP} -n9f ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB pages ${share}/man/man1/*.1)
foreach(page IN LISTS pages)
  compress(${page})
endforeach()

# SOURCE_DATE_EPOCH gives the day, where it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${share}/doc/tmm/changelog "tmm (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * This version's changes are in CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
compress(${share}/doc/tmm/changelog)

file(MAKE_DIRECTORY ${share}/lintian/overrides)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/debian/lintian-overrides ${share}/lintian/overrides/tmm)
