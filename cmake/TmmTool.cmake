# tmm_add_tool(NAME SOURCE LIBRARIES…): a command-line tool with its manual page and its completions for bash, zsh and fish, which it
# prints itself once it is built.
function(tmm_add_tool name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ARGN})
  install(TARGETS ${name})
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "${name}: no manual page and no completions, which it can't print on this machine")
    return()
  endif()
  set(share ${CMAKE_CURRENT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${share})
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}> --print-man > ${share}/${name}.1
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}> --print-completion bash > ${share}/${name}
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}> --print-completion zsh > ${share}/_${name}
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${name}> --print-completion fish > ${share}/${name}.fish
    BYPRODUCTS ${share}/${name}.1 ${share}/${name} ${share}/_${name} ${share}/${name}.fish
    VERBATIM)
  install(FILES ${share}/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${share}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  # Debian's zsh looks below /usr where packages put theirs.
  install(CODE "
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" AND EXISTS /etc/debian_version)
      set(folder vendor-completions)
    endif()
    file(INSTALL \"${share}/_${name}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")
  ")
  install(FILES ${share}/${name}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
