# Installs everything that was built and moves the prefix to where nobody was told of. The other scripts use it there.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
file(REMOVE_RECURSE ${work}/moved ${work}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
file(RENAME ${work}/prefix ${prefix})
