# SPDX-License-Identifier: MIT
# Units that are compiled with ThreadSanitizer look for a library that is, too: else it would not see what orders their
# data. A static library has both: a program takes the objects of its own kind. Where the library has none, the headers tell
# such units so: LOCKSTEP_WITHOUT_THREAD_SANITIZER.
get_directory_property(options COMPILE_OPTIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build)
set(options "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build}} ${options}")
if(NOT options MATCHES "-fsanitize=[a-z,]*thread")
  if(LOCKSTEP_THREAD_SANITIZER AND type STREQUAL "STATIC_LIBRARY")
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS -fsanitize=thread)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # it need not be linked here
    check_cxx_source_compiles("int main() { return 0; }" LOCKSTEP_HAS_THREAD_SANITIZER)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
  endif()
  if(LOCKSTEP_HAS_THREAD_SANITIZER AND LOCKSTEP_THREAD_SANITIZER AND type STREQUAL "STATIC_LIBRARY")
    add_library(lockstep_sanitized OBJECT src/lockstep.cpp src/lockstep_checked.cpp)
    target_compile_options(lockstep_sanitized PRIVATE -fsanitize=thread -ffunction-sections -fdata-sections)
    target_include_directories(lockstep_sanitized PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(lockstep_sanitized PRIVATE lockstep_needs)
    set_target_properties(lockstep_sanitized PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_sources(lockstep PRIVATE $<TARGET_OBJECTS:lockstep_sanitized>)
  else()
    list(APPEND lockstep_defines LOCKSTEP_WITHOUT_THREAD_SANITIZER=1)
  endif()
endif()
