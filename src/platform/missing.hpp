// SPDX-License-Identifier: MIT
// src/platform/missing.hpp -- what a system does not give (layer: platform)
//
// All of it is a wish of the library: without it programs run, slower or with less to see.
#ifndef LOCKSTEP_SRC_PLATFORM_MISSING_HPP
#define LOCKSTEP_SRC_PLATFORM_MISSING_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The missing things, separated by commas; "nothing" if there are all. The text lives for ever.
const char* text_of_missing();

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_MISSING_HPP
