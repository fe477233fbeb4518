# The settings that the scripts of this directory share. Each script is run with -DSOURCE, -DBUILD (of tmm), -DC_COMPILER,
# -DCXX_COMPILER, -DFLAGS.
set(work ${BUILD}/consumers)
set(prefix ${work}/moved)
set(ENV{TMM_DB} ${work}/none.db)
set(ENV{TMM_CACHE_DIR} ${BUILD}/test_cache)
set(compilers -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_C_FLAGS=${FLAGS} -DCMAKE_CXX_FLAGS=${FLAGS})

# run(command…): stops where it fails; what it printed is in ${output}.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nexited with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# skip_without(variable program): ctest knows the words.
macro(skip_without variable program)
  find_program(${variable} ${program})
  if(NOT ${variable})
    message("skipped: ${program} is not here")
    return()
  endif()
endmacro()

# run_programs(directory name…): each multiplies and checks its result.
function(run_programs directory)
  foreach(name IN LISTS ARGN)
    run(${directory}/${name})
    message("${name}: right")
  endforeach()
endfunction()
