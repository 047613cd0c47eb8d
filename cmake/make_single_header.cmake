# SPDX-License-Identifier: MIT
# Makes one header of a unit of the library and all that it includes of it:
#   cmake -D UNIT=src/lockstep.cpp -D OUTPUT=lockstep.hpp [-D SETTINGS="A;B"] -P cmake/make_single_header.cmake
#
# Includes of files of ours are replaced by the files, each once. One inside an #if is replaced there, and does not count for
# what follows: its guard makes it one. Comments go, but those of the public headers. SETTINGS are defined as 1 before all.
cmake_minimum_required(VERSION 3.22)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
get_filename_component(name ${OUTPUT} NAME)
get_filename_component(unit ${UNIT} ABSOLUTE BASE_DIR ${root})

# count(<variable> <text> <regex>): how often the text has it. In lists semicolons separate: none is in a match.
function(count variable text regex)
  string(REGEX MATCHALL "${regex}" found "${text}")
  list(LENGTH found length)
  set(${variable} ${length} PARENT_SCOPE)
endfunction()

# embed(<file>): appends to `made` the file as it is to stand there. `seen` has the files that stand outside of any #if.
function(embed file open_outside)
  file(READ ${file} rest)
  get_filename_component(directory ${file} DIRECTORY)
  if(NOT file MATCHES "/include/lockstep/[^/]*$|/include/[^/]*$")
    string(REGEX REPLACE "\n *//[^\n]*" "" rest "\n${rest}")
  endif()
  string(REGEX REPLACE "// SPDX-License-Identifier: MIT\n" "" rest "${rest}")
  set(open ${open_outside})
  if(rest MATCHES "\n#ifndef (LOCKSTEP|THREAD_SYNCHRONIZER)[A-Z0-9_]*_(HPP|H)\n")
    math(EXPR open "${open} - 1")  # the guard is no condition
  endif()
  while(rest MATCHES "\n#include (<lockstep/[^>\n]*>|<thread_synchronizer.h>|\"[^\"\n]*\")[^\n]*")
    set(line "${CMAKE_MATCH_0}")
    set(written "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${line}" at)
    string(LENGTH "${line}" length)
    string(SUBSTRING "${rest}" 0 ${at} before)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(APPEND made "${before}")
    count(begun "${before}" "\n *# *if")
    count(ended "${before}" "\n *# *endif")
    math(EXPR open "${open} + ${begun} - ${ended}")
    string(REGEX REPLACE "[<>\"]" "" target "${written}")
    if(written MATCHES "^<")
      set(target ${root}/include/${target})
    else()
      get_filename_component(target ${directory}/${target} ABSOLUTE)
    endif()
    if(NOT target IN_LIST seen)
      if(open EQUAL 0)
        list(APPEND seen ${target})
        embed(${target} 0)
      else()
        set(outside "${seen}")
        list(APPEND seen ${target})
        embed(${target} ${open})
        set(seen "${outside}")
      endif()
    endif()
  endwhile()
  string(APPEND made "${rest}")
  set(made "${made}" PARENT_SCOPE)
  set(seen "${seen}" PARENT_SCOPE)
endfunction()

set(made "")
set(seen "")
embed(${unit} 0)

# Includes of the system once where they stand outside of any #if, which compilers would see to by themselves: nothing.
string(REGEX REPLACE "\n[ \t]*\n([ \t]*\n)+" "\n\n" made "${made}")
set(settings "")
foreach(setting ${SETTINGS})
  string(APPEND settings "#define ${setting} 1\n")
endforeach()
file(WRITE ${OUTPUT} "// SPDX-License-Identifier: MIT
// ${name} -- the library in one header; made from include/ and src/ of lockstep, which have the comments
#pragma once
${settings}${made}")
