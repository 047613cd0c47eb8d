# SPDX-License-Identifier: MIT
# MPI libraries have different headers. So lockstep inside MPI goes as source, and each project compiles it with its own.

# lockstep_add_mpi_library(<target> <directory> <MPI>): a static library of the sources in the directory, with that MPI.
function(lockstep_add_mpi_library target directory mpi)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${directory}/lockstep_mpi.cpp ${directory}/lockstep_mpi_checked.cpp)
  target_link_libraries(${target} PUBLIC lockstep::lockstep ${mpi})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
