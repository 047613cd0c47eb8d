// SPDX-License-Identifier: MIT
// lockstep/padded.hpp -- a Type that shares its cache line with nothing else (layer: platform)
//
// For data of several threads side by side: a std::vector<lockstep::padded<double>> with one element per
// member, or two mutexes in one object. A write to one element does not disturb the others.
//
//   padded<Type>         `value` is the Type. At least cache_line_size bytes, aligned so.
//   cache_line_size   128 where hardware fetches lines in pairs or has lines of 128 bytes, 256 on s390x, else
//                     64.
// In C++11 and C++14 `new` and std::vector do not honour the alignment: Type keeps its size, but may share the
// first and the last line.
//
// Order  none.
// Errors those of Type's constructor.
// Cost   the size of a Type rounded up to whole lines.
// Example
//   std::vector<lockstep::padded<double>> sums(4);
//   sums[0].value += 1.5;
#ifndef LOCKSTEP_PADDED_HPP
#define LOCKSTEP_PADDED_HPP

#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

using detail::cache_line_size;
using detail::padded;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_PADDED_HPP
