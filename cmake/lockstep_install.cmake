# SPDX-License-Identifier: MIT
# Installs the library, the headers, the CMake package and files for pkg-config; all of it may be moved afterwards, but
# for what has an absolute place. A project that has this one as a part installs its own files only: see LOCKSTEP_INSTALL.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Distributions that have several architectures at once keep these two with the libraries.
set(LOCKSTEP_INSTALL_CMAKEDIR "" CACHE STRING "Where the CMake package goes, if not to DATADIR/cmake/lockstep")
set(LOCKSTEP_INSTALL_PKGCONFIGDIR "" CACHE STRING "Where files for pkg-config go, if not to DATADIR/pkgconfig")
mark_as_advanced(LOCKSTEP_INSTALL_CMAKEDIR LOCKSTEP_INSTALL_PKGCONFIGDIR)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/lockstep)
if(LOCKSTEP_INSTALL_CMAKEDIR)
  set(package_dir ${LOCKSTEP_INSTALL_CMAKEDIR})
endif()
set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
if(LOCKSTEP_INSTALL_PKGCONFIGDIR)
  set(pkgconfig_dir ${LOCKSTEP_INSTALL_PKGCONFIGDIR})
endif()

# thread_synchronizer.h is the one that needs nothing to link.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN thread_synchronizer.h EXCLUDE)
install(FILES ${lockstep_single}/thread_synchronizer.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${lockstep_single}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep-header-only)
install(TARGETS lockstep EXPORT lockstepTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lockstep_needs EXPORT lockstepTargets)
install(TARGETS lockstep_header_only EXPORT lockstepTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep-header-only)
install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION ${package_dir})

# The module goes as source: each project compiles it for itself.
set(module_dir ${CMAKE_INSTALL_DATADIR}/lockstep/modules)
install(FILES ${PROJECT_SOURCE_DIR}/modules/lockstep.cppm DESTINATION ${module_dir})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/lockstep_module.cmake DESTINATION ${package_dir})

# So does what is for use inside MPI, with the headers of src/ that it reads.
set(mpi_source_dir ${CMAKE_INSTALL_DATADIR}/lockstep/src)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${mpi_source_dir}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "mpi/*.cpp" PATTERN "lockstep_mpi*.cpp")
install(FILES ${PROJECT_SOURCE_DIR}/cmake/lockstep_mpi_library.cmake DESTINATION ${package_dir})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/lockstepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR module_dir mpi_source_dir)
# Before 1.0 a minor version may break programs.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)

# A .pc file finds its prefix from its own place, unless that place is absolute and so says nothing of it.
if(IS_ABSOLUTE "${pkgconfig_dir}")
  set(lockstep_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH lockstep_pc_prefix
    "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
  string(PREPEND lockstep_pc_prefix "\${pcfiledir}/")
endif()
foreach(directory includedir libdir)
  string(TOUPPER CMAKE_INSTALL_${directory} installed)
  if(IS_ABSOLUTE "${${installed}}")
    set(lockstep_pc_${directory} "${${installed}}")
  else()
    set(lockstep_pc_${directory} "\${prefix}/${${installed}}")
  endif()
endforeach()
foreach(directory prefix includedir libdir)
  string(REPLACE " " "\\ " lockstep_pc_${directory} "${lockstep_pc_${directory}}")
endforeach()
set(lockstep_pc_defines "")
foreach(define ${lockstep_defines})
  string(APPEND lockstep_pc_defines "-D${define} ")
endforeach()
foreach(name lockstep lockstep-header-only)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endforeach()

install(FILES
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep)
