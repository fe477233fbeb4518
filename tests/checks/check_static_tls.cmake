# A library whose thread-local variables stand where those of the program do can't be opened by a program that has no room left there: Python
# behind PyTorch, for one. The linker marks such libraries.
execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE dynamic RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT dynamic MATCHES "NEEDED")
  message(FATAL_ERROR "${READELF} reads no dynamic section of ${LIBRARY}")
endif()
if(dynamic MATCHES "STATIC_TLS")
  message(FATAL_ERROR "${LIBRARY} has relocations of static thread-local storage: some object in it was not compiled as position-independent code")
endif()
