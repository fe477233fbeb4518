# cmake -DROOT=dir -DOUT=file.h -P commit_stamp.cmake
# Writes the commit that the binary is built from, so that a figure names its code; touches the file only when it changes.
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${ROOT} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${described})
  endif()
endif()
set(text "// Generated: the commit this binary is built from.\n#pragma once\n\nnamespace tmm::bench {\ninline constexpr const char* kCommit = \"${commit}\";\n}\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
