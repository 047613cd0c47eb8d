# SPDX-License-Identifier: MIT
# Installs the headers, the CMake package and lockstep.pc; all of it may be moved afterwards, but for what has an
# absolute place. A project that has this one as a part installs its own files only: see LOCKSTEP_INSTALL.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/lockstep)
set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(LOCKSTEP_BUILD_SINGLE_HEADER)
  install(FILES ${lockstep_single_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(TARGETS lockstep EXPORT lockstepTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION ${package_dir})
if(LOCKSTEP_BUILD_COMPILED)
  install(TARGETS lockstep_compiled EXPORT lockstepCompiledTargets)
  install(EXPORT lockstepCompiledTargets NAMESPACE lockstep:: DESTINATION ${package_dir})
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/lockstepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break programs. The headers fit every machine, the compiled library does not.
set(independent ARCH_INDEPENDENT)
if(LOCKSTEP_BUILD_COMPILED)
  set(independent "")
endif()
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ${independent})

# lockstep.pc finds its prefix from its own place, unless that place is absolute and so says nothing of it.
if(IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
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
set(pkgconfig_files ${PROJECT_BINARY_DIR}/lockstep.pc)
configure_file(
  ${PROJECT_SOURCE_DIR}/cmake/lockstep.pc.in ${PROJECT_BINARY_DIR}/lockstep.pc @ONLY)
if(LOCKSTEP_BUILD_COMPILED)
  list(APPEND pkgconfig_files ${PROJECT_BINARY_DIR}/lockstep-compiled.pc)
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/lockstep-compiled.pc.in ${PROJECT_BINARY_DIR}/lockstep-compiled.pc @ONLY)
endif()

install(FILES
  ${PROJECT_BINARY_DIR}/lockstepConfig.cmake
  ${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${pkgconfig_files} DESTINATION ${pkgconfig_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep)
