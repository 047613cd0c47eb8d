# SPDX-License-Identifier: MIT
# What tests, examples, benchmarks and the tool need besides the library, which needs nothing. All that is missing is
# said at once, with the Debian packages that bring it and the options that want it.

# lockstep_missing(<what> <Debian package>): lockstep_part, TESTS for instance, needs this, and it is not there.
function(lockstep_missing what debian)
  set_property(GLOBAL APPEND PROPERTY lockstep_missing ${debian})
  set_property(GLOBAL PROPERTY lockstep_${debian}_brings "${what}")
  set_property(GLOBAL APPEND PROPERTY lockstep_${debian}_for LOCKSTEP_BUILD_${lockstep_part})
endfunction()

# lockstep_need(<Debian package> <what to find, as find_package has it>...)
# A macro, because find_package sets variables here.
macro(lockstep_need debian package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    string(REPLACE ";" " " lockstep_needed "${package};${ARGN}")
    string(REPLACE " COMPONENTS" ":" lockstep_needed ${lockstep_needed})
    lockstep_missing("${lockstep_needed}" ${debian})
  endif()
endmacro()

# At the end: an error, if anything is missing.
function(lockstep_say_what_is_missing)
  get_property(missing GLOBAL PROPERTY lockstep_missing)
  if(NOT missing)
    return()
  endif()
  list(REMOVE_DUPLICATES missing)
  set(lines "")
  foreach(debian ${missing})
    get_property(what GLOBAL PROPERTY lockstep_${debian}_brings)
    get_property(options GLOBAL PROPERTY lockstep_${debian}_for)
    list(REMOVE_DUPLICATES options)
    list(JOIN options ", " options)
    string(APPEND lines "  ${what}, for ${options}\n")
  endforeach()
  list(JOIN missing " " missing)
  message(FATAL_ERROR "Not found:\n${lines}On Debian and Ubuntu:\n  apt-get install ${missing}\n"
    "Or set these options to OFF, as they are by default: the library alone needs none of it.")
endfunction()
