# SPDX-License-Identifier: MIT
# Makes the headers to copy, which need nothing to link:
#   cmake -D DIRECTORY=build/single -P cmake/make_single_header.cmake
# makes in that directory
#   lockstep.hpp            the library: of src/lockstep.cpp
#   lockstep/toolbox.hpp    the toolbox, which includes it: of src/toolbox/toolbox.cpp
#   lockstep/NAME.hpp       include one of them, for programs that are written for the many headers
#   thread_synchronizer.h   the five classes of ThreadSynchronizer: of src/thread_synchronizer.cpp
#
# A header has what its unit includes of ours. Each file follows those that it includes, once: a file that only some
# systems can compile has an #if of its own. A file whose guard was defined before is left out. The functions of the
# sources are inline. Comments stay in the headers for users only. Between sources guards go, and namespaces stay open.
cmake_minimum_required(VERSION 3.22)
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
string(CONFIGURE "${DIRECTORY}" DIRECTORY)  # it may name an $ENV{variable}

file(READ ${root}/include/lockstep/detail/platform/config.hpp version)
string(REGEX REPLACE ".*VERSION_MAJOR ([0-9]+)\n.*VERSION_MINOR ([0-9]+)\n.*VERSION_PATCH ([0-9]+)\n.*" "\\1.\\2.\\3"
  version "${version}")

# count(<variable> <text> <regex>): how often the text has it.
function(count variable text regex)
  string(REGEX MATCHALL "${regex}" found "${text}")
  list(LENGTH found length)
  set(${variable} ${length} PARENT_SCOPE)
endfunction()

# without_comments(<variable>): takes them out of its text, and blank lines.
function(without_comments variable)
  string(REGEX REPLACE "\n *//[^\n]*" "" text "${${variable}}")
  string(REGEX REPLACE "[ \t]+//[^\n\"]*\n" "\n" text "${text}")
  string(REGEX REPLACE "\n[ \t\n]*\n" "\n" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# without_comments_within(<begin> <end>): the same in `rest`, from each text `begin` to the next `end`.
function(without_comments_within begin end)
  set(done "")
  string(FIND "${rest}" "${begin}" from)
  while(NOT from EQUAL -1)
    string(SUBSTRING "${rest}" 0 ${from} before)
    string(SUBSTRING "${rest}" ${from} -1 rest)
    string(FIND "${rest}" "${end}" to)
    string(SUBSTRING "${rest}" 0 ${to} part)
    string(SUBSTRING "${rest}" ${to} -1 rest)
    without_comments(part)
    string(APPEND done "${before}${part}")
    string(FIND "${rest}" "${begin}" from)
  endwhile()
  set(rest "${done}${rest}" PARENT_SCOPE)
endfunction()

# embed(<file> <in place>): puts the files that it includes into `made`, then its own text; or, in place, that into `text`.
function(embed file in_place)
  file(READ ${file} rest)
  string(PREPEND rest "\n")
  if(rest MATCHES "\n#ifndef ([A-Z_0-9]+_HPP)\n")
    set(guard ${CMAKE_MATCH_1})
    string(FIND "${made}" "\n#define ${guard}\n" defined)
    if(NOT defined EQUAL -1)
      set(text "" PARENT_SCOPE)
      return()
    endif()
    if(file MATCHES "^${root}/src/")  # nobody else includes it
      string(REPLACE "\n#ifndef ${guard}\n" "\n" rest "${rest}")
      string(REPLACE "\n#endif  // ${guard}\n" "\n" rest "${rest}")
    endif()
  endif()
  string(REPLACE "\n}  // namespace " "\n}@" rest "${rest}")
  string(REPLACE "\n// SPDX-License-Identifier: MIT" "" rest "${rest}")
  get_filename_component(directory ${file} DIRECTORY)
  if(file MATCHES "${public}")
    string(REGEX REPLACE "\n///?( Labels)?\n///? Memory order[^\n]*(\n///?   [^\n]*)+" "" rest "${rest}")
    string(REGEX REPLACE "  +// *[0-9][0-9, ]*\n" "\n" rest "${rest}")
    without_comments_within("\nnamespace detail {\n" "\n}@detail\n")
    without_comments_within("\n private:\n" "\n}")
  else()
    without_comments(rest)
    string(REGEX REPLACE " \\\\\n *" "\\\\\n " rest "${rest}")
    while(rest MATCHES "\n\t*  ")
      string(REGEX REPLACE "\n(\t*)  " "\n\\1\t" rest "${rest}")
    endwhile()
    string(REGEX REPLACE "\n\t\t\t\t\t+" "\n\t\t\t\t" rest "${rest}")  # what continues a line
  endif()
  set(own "")
  while(rest MATCHES "\n *# *include (<lockstep/[^>\n]*>|<thread_synchronizer.h>|\"[^\"\n]*\")[^\n]*")
    set(line "${CMAKE_MATCH_0}")
    set(written "${CMAKE_MATCH_1}")
    string(FIND "${rest}" "${line}" at)
    string(LENGTH "${line}" length)
    string(SUBSTRING "${rest}" 0 ${at} before)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(APPEND own "${before}")
    string(REGEX REPLACE "[<>\"]" "" target "${written}")
    if(written MATCHES "^<")
      set(target ${root}/include/${target})
    else()
      get_filename_component(target ${directory}/${target} ABSOLUTE)
    endif()
    if(target IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${target})
    # The umbrella has headers that not every system can compile, and which say so.
    set(open 0)
    if(target MATCHES "${public}" AND file MATCHES "${public}")
      count(begun "${own}" "\n *# *if")
      count(ended "${own}" "\n *# *endif")
      math(EXPR open "${begun} - ${ended} - 1")
    endif()
    if(open GREATER 0)
      embed(${target} TRUE)
      string(APPEND own "${text}")
    else()
      embed(${target} FALSE)
    endif()
  endwhile()
  string(APPEND own "${rest}")
  if(in_place)
    set(text "${own}" PARENT_SCOPE)
  elseif(NOT file STREQUAL unit)
    string(APPEND made "${own}")
  endif()
  set(made "${made}" PARENT_SCOPE)
  set(seen "${seen}" PARENT_SCOPE)
endfunction()

# make_header(<name> <unit> <headers for users> [<from> <to>]...): replaces words after all else.
function(make_header name unit public)
  set(unit ${root}/src/${unit})
  set(public "^${root}/include/${public}$")
  set(made "")
  embed(${unit} FALSE)
  set(seen "${seen}" PARENT_SCOPE)
  string(REGEX REPLACE "\n#define LOCKSTEP_SRC_[A-Z_0-9]+_HPP\n" "\n" made "${made}")
  string(REPLACE "\nLOCKSTEP_INLINE " "\ninline " made "${made}")
  # What every C++ library has is included once.
  set(standard "")
  foreach(each algorithm array atomic chrono cstddef cstdint cstdio cstdlib cstring exception functional limits memory new
      stdexcept string tuple type_traits utility vector)
    string(FIND "${made}" "\n#include <${each}>\n" at)
    if(NOT at EQUAL -1)
      string(APPEND standard "#include <${each}>\n")
      string(REPLACE "\n#include <${each}>" "" made "${made}")
    endif()
  endforeach()
  foreach(each lockstep LOCKSTEP_ABI detail)
    string(REGEX REPLACE "\n}@${each}\n+(inline )?namespace ${each} {\n" "\n" made "${made}")
  endforeach()
  string(REGEX REPLACE "\n}@[^\n]*" "\n}" made "${made}")
  string(REGEX REPLACE "\n[ \t]*\n([ \t]*\n)+" "\n\n" made "${made}")
  string(PREPEND made "#pragma once
${before}#undef LOCKSTEP_HEADER_ONLY
#define LOCKSTEP_HEADER_ONLY 1
#if __cplusplus >= 201103L || defined(_MSVC_LANG)  // else what follows says what is wrong
${standard}#endif
")
  set(words ${ARGN})
  while(words)
    list(POP_FRONT words from to)
    string(REPLACE "${from}" "${to}" made "${made}")
  endwhile()
  file(WRITE ${DIRECTORY}/${name} "// SPDX-License-Identifier: MIT
// ${name} ${version} -- made of include/ and src/ of lockstep, which have the comments
${made}")
endfunction()

set(toolbox ${root}/include/lockstep/toolbox.hpp ${root}/src/toolbox/toolbox.cpp)
set(seen ${toolbox})
make_header(lockstep.hpp lockstep.cpp "(lockstep/)?[^/]*")
file(GLOB headers RELATIVE ${root}/include ${root}/include/lockstep/*.hpp)
list(FILTER headers EXCLUDE REGEX "/mpi")  # which need what is not in it
foreach(header ${headers})
  set(within ../lockstep.hpp)
  if(NOT ${root}/include/${header} IN_LIST seen)
    set(within toolbox.hpp)
  endif()
  file(WRITE ${DIRECTORY}/${header} "// SPDX-License-Identifier: MIT\n#include \"${within}\"\n")
endforeach()
list(REMOVE_ITEM seen ${toolbox})
set(before "#include \"../lockstep.hpp\"\n")
make_header(lockstep/toolbox.hpp toolbox/toolbox.cpp "(lockstep/)?[^/]*")
set(seen "")
set(before "")
# Names of its own: it stands beside the library in a program, and in a unit. What its users write stays.
make_header(thread_synchronizer.h thread_synchronizer.cpp "thread_synchronizer.h"
  LOCKSTEP_ THREAD_SYNCHRONIZER_  THREAD_SYNCHRONIZER_COMPAT LOCKSTEP_COMPAT
  THREAD_SYNCHRONIZER_THREAD_SYNCHRONIZER_H LOCKSTEP_THREAD_SYNCHRONIZER_H
  "namespace lockstep" "namespace thread_synchronizer"  lockstep:: thread_synchronizer::)
