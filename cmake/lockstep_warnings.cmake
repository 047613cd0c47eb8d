# SPDX-License-Identifier: MIT

# lockstep_warnings(<target>): the warnings that all our own code is compiled with.
set(LOCKSTEP_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow)

function(lockstep_warnings target)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 $<$<BOOL:${LOCKSTEP_WERROR}>:/WX>)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    ${LOCKSTEP_WARNINGS} $<$<BOOL:${LOCKSTEP_WERROR}>:-Werror>
    # Clang blames the user of std::stable_sort for std::get_temporary_buffer, which libstdc++ 12
    # deprecates and itself calls there. GCC keeps watch over deprecated names.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
endfunction()
