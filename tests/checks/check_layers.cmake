# Includes run one way, base <- templates <- generator <- db <- runtime <- tuner <- bench <- tools, and nobody but the families' own folder names a family.
cmake_minimum_required(VERSION 3.20)

# Each include of the files, as far as its path begins so, goes on with a folder that is allowed.
function(check_stands_on what allowed beginning)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} includes REGEX "^#include \"${beginning}[a-z_]+/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"${beginning}([a-z_]+)/.*" "\\1" target "${line}")
      if(NOT target IN_LIST allowed)
        message(SEND_ERROR "${file}: ${what} does not stand on ${target}: ${line}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Within the templates the rooms stand on each other in this order; families and steps stand on all of these.
set(room_vocabulary vocabulary)
set(room_number number vocabulary)
set(room_schedule schedule vocabulary)
set(room_copy copy schedule number vocabulary)
set(room_output output copy schedule number vocabulary)
foreach(room vocabulary number schedule copy output)
  file(GLOB_RECURSE files ${SOURCE}/templates/tmm/${room}/*.h ${SOURCE}/templates/tmm/${room}/*.cuh)
  if(NOT files)
    message(FATAL_ERROR "templates/tmm/${room} holds nothing")
  endif()
  check_stands_on(${room} "${room_${room}}" tmm/ ${files})
endforeach()

# Writers of C hand their sums to templates/tmm/output/, and apply neither alpha nor beta, round to no type of C and find no place in C by
# themselves. Apart from them stand the kernels that check and measure, and planes, which rounds operands.
set(writes_c "args_?\\.(alpha|beta|c|stride_c)[^a-z_0-9]")
set(applies_scalars "[*] *[a-z_.]*(alpha|beta)[^a-z]|(alpha|beta)_? *[*]|(fmaf|multiply_add)[(][a-z_.]*(alpha|beta)")
set(rounds "to_element<|from_float<|cvt_rn_|rounded_to")
file(GLOB_RECURSE writers ${SOURCE}/templates/tmm/families/*.cuh ${SOURCE}/templates/tmm/steps/*.cuh ${SOURCE}/templates/tmm/copy/*.cuh ${SOURCE}/templates/tmm/schedule/*.cuh)
list(LENGTH writers count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} kernels were found in ${SOURCE}/templates/tmm")
endif()
foreach(file IN LISTS writers)
  set(forbidden "${writes_c}|${applies_scalars}")
  if(NOT file MATCHES "/steps/planes/")
    string(APPEND forbidden "|${rounds}")
  endif()
  file(STRINGS ${file} lines REGEX "${forbidden}")
  if(lines)
    message(SEND_ERROR "${file}: only templates/tmm/output/ says what becomes of a sum; hand it over with its row and column: ${lines}")
  endif()
endforeach()

# NVRTC from 13.2 on reads template arguments of class type from memory at run time. A kernel is a template over one type whose static
# constants say all of it; where only a part is handed on, such as a tile's layout, it is by reference to such a constant.
file(GLOB_RECURSE kernels ${SOURCE}/templates/tmm/*.cuh ${SOURCE}/templates/tmm/*.h)
foreach(file IN LISTS kernels)
  file(STRINGS ${file} lines REGEX "template <([^>]*[^&a-z])?(auto|[A-Z][A-Za-z]*) [a-z][a-z_]*[,>]")
  list(FILTER lines EXCLUDE REGEX "^template <(auto member|[^>]*(ElementType|Activation) [a-z]+[,>])")
  if(lines)
    message(SEND_ERROR "${file}: take a type with static constants, or a reference to one, not a value of class type: ${lines}")
  endif()
endforeach()

# Several elements are accessed at once by ptx::ld and ptx::st alone, whose addresses the emulated device checks.
set(vector "(Vector<[^*]*>|ReadVector|Chunk|Words<[^*]*>)")
file(GLOB_RECURSE kernels ${SOURCE}/templates/tmm/*.cuh)
foreach(file IN LISTS kernels)
  file(STRINGS ${file} lines REGEX "[*](reinterpret|static)_cast<(const )?${vector}[*]>|_cast<(const )?${vector}[*]>[(][^;]*[)]\\[")
  if(lines)
    message(SEND_ERROR "${file}: ptx::ld and ptx::st (templates/tmm/ptx.cuh) access vectors; use them instead: ${lines}")
  endif()
endforeach()

# All rooms from the bottom to the top: what stands in one includes nothing of those behind it. A folder's files belong to the longest
# name that they begin with.
set(rooms
  base/text base base/files base/processes base/command_line
  templates
  generator/problem generator/text generator/machine generator/steps generator/families generator/kernel generator/plan generator/choice
  generator/compile generator
  db/store db/machine db/winners db
  runtime/include runtime/dropin runtime/device runtime/emulation runtime/select runtime/bundle runtime/plan runtime/api runtime
  tuner/options tuner/progress tuner/measure tuner/run_off tuner/worker tuner/search tuner/compiling tuner/recording tuner/run tuner
  bench/operands bench/timing bench/peers bench/accuracy bench/comparison bench/report bench
  tools/tmm_gen tools/tmm_tune tools/tmm_db tools/tmm_bench tools)
# These stand on a room behind them until they are taken apart. The list may only shrink.
set(exceptions
  "generator/steps -> generator/families" "generator/steps -> generator/kernel" "generator/steps -> generator/plan"
  "generator/families -> generator/plan" "generator/families -> generator/choice")

# room_of(RESULT PATH): the place in the list of the room that the path belongs to; -1 where it is none.
function(room_of result path)
  get_filename_component(folder ${path} DIRECTORY)
  set(place -1)
  while(NOT folder STREQUAL "" AND place EQUAL -1)
    list(FIND rooms ${folder} place)
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
  set(${result} ${place} PARENT_SCOPE)
endfunction()

set(met "")
foreach(folder base templates generator db runtime tuner bench tools)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cuh ${SOURCE}/${folder}/*.cpp)
  list(LENGTH files count)
  if(count LESS 10)
    message(FATAL_ERROR "only ${count} sources were found in ${SOURCE}/${folder}")
  endif()
  foreach(file IN LISTS files)
    room_of(room ${file})
    if(room EQUAL -1)
      message(SEND_ERROR "${file} stands in no room: name its folder in ${CMAKE_CURRENT_LIST_FILE}")
      continue()
    endif()
    list(GET rooms ${room} room_name)
    file(STRINGS ${SOURCE}/${file} includes REGEX "^#include \"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
      if(included MATCHES "^(tmm|host)/")
        set(included templates/${included})
        if(NOT EXISTS ${SOURCE}/${included})
          string(REPLACE "templates/" "runtime/include/" included ${included})
        endif()
      endif()
      room_of(target ${included})
      if(target GREATER room)
        list(GET rooms ${target} target_name)
        if("${room_name} -> ${target_name}" IN_LIST exceptions)
          list(APPEND met "${room_name} -> ${target_name}")
        else()
          message(SEND_ERROR "${file}: ${room_name} does not stand on ${target_name}: ${line}")
        endif()
      endif()
      # Only who searches knows of the search: a winner is chosen from what was measured and predicted.
      if(included STREQUAL "generator/choice/search_space.h" AND file MATCHES "^(generator|db|runtime)/" AND NOT file MATCHES "/search_space\\.")
        message(SEND_ERROR "${file} does not stand on the search: ${line}")
      endif()
    endforeach()
    if(NOT folder STREQUAL "templates" AND NOT file MATCHES "^generator/families/")
      file(STRINGS ${SOURCE}/${file} names REGEX "family::")
      if(names)
        message(SEND_ERROR "${file} names a family: ask its descriptor (generator/families/family.h) instead: ${names}")
      endif()
    endif()
  endforeach()
endforeach()
foreach(exception IN LISTS exceptions)
  if(NOT exception IN_LIST met)
    message(SEND_ERROR "'${exception}' is no longer needed: take it out of ${CMAKE_CURRENT_LIST_FILE}")
  endif()
endforeach()

# The drop-in libraries stand on the public header, and spell numbers of bytes as the tools do.
file(GLOB_RECURSE files ${SOURCE}/runtime/dropin/*.h ${SOURCE}/runtime/dropin/*.cpp)
if(NOT files)
  message(FATAL_ERROR "runtime/dropin holds nothing")
endif()
foreach(file IN LISTS files)
  file(STRINGS ${file} includes REGEX "^#include \"")
  foreach(line IN LISTS includes)
    if(NOT line MATCHES "^#include \"(runtime/dropin/|tmm/tmm\\.h|base/text/byte_count\\.h)")
      message(SEND_ERROR "${file}: drop-ins stand on tmm.h alone: ${line}")
    endif()
    # Nobody knows the rooms blas and cublas but themselves.
    string(REGEX MATCH "runtime/dropin/(blas|cublas|record)/" room "${file}")
    string(REGEX MATCH "\"runtime/dropin/(blas|cublas|record)/" asked "${line}")
    string(REPLACE "\"" "" asked "${asked}")
    if(asked AND NOT asked STREQUAL room AND NOT asked STREQUAL "runtime/dropin/record/")
      message(SEND_ERROR "${file}: this room does not stand on that one: ${line}")
    endif()
  endforeach()
endforeach()
