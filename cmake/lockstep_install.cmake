# SPDX-License-Identifier: MIT
# Installs the headers, the CMake package and lockstep.pc; all of it may be moved afterwards, but for what has an
# absolute place. A project that has this one as a part installs its own files only: see LOCKSTEP_INSTALL.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/lockstep)
set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lockstep EXPORT lockstepTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION ${package_dir})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/lockstepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break programs. There are no binaries, hence ARCH_INDEPENDENT.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

# lockstep.pc finds its prefix from its own place, unless that place is absolute and so says nothing of it.
if(IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  set(lockstep_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH lockstep_pc_prefix
    "${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
  string(PREPEND lockstep_pc_prefix "\${pcfiledir}/")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(lockstep_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(lockstep_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(directory prefix includedir)
  string(REPLACE " " "\\ " lockstep_pc_${directory} "${lockstep_pc_${directory}}")
endforeach()
configure_file(
  ${PROJECT_SOURCE_DIR}/cmake/lockstep.pc.in ${PROJECT_BINARY_DIR}/lockstep.pc @ONLY)

install(FILES
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/lockstep.pc DESTINATION ${pkgconfig_dir})
