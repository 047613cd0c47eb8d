// SPDX-License-Identifier: MIT
// lockstep/binding.hpp -- the wish where a team's members shall run: a value (layer: team)
//
//   binding()          nothing said: the environment decides, else none
//   binding::none()    members run where the system puts them
//   binding::close()   one member on each core, on neighbouring cores, fast ones first; then the cores'
//                      siblings. For members that share data
//   binding::spread()  as close(), but as far apart as it goes. For members that need memory bandwidth
//   binding::cpus({})  rank i on the i-th of these CPUs
// In all of them the CPUs are taken in turns when there are more members than CPUs.
#ifndef LOCKSTEP_BINDING_HPP
#define LOCKSTEP_BINDING_HPP

#include <utility>
#include <vector>

#include "detail/platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class binding {
 public:
  binding() = default;
  static binding none() { return binding(kind::none); }
  static binding close() { return binding(kind::close); }
  static binding spread() { return binding(kind::spread); }
  /// CPUs by the system's numbers, in the order of ranks; one may stand there several times. An empty
  /// list is none().
  static binding cpus(std::vector<unsigned> list) {
    binding result(list.empty() ? kind::none : kind::list);
    result.list_ = std::move(list);
    return result;
  }

  bool is_unset() const noexcept { return kind_ == kind::unset; }
  bool is_none() const noexcept { return kind_ == kind::none; }
  bool is_close() const noexcept { return kind_ == kind::close; }
  bool is_spread() const noexcept { return kind_ == kind::spread; }
  bool is_list() const noexcept { return kind_ == kind::list; }
  /// What cpus() was given; empty for all others.
  const std::vector<unsigned>& list() const noexcept { return list_; }

  friend bool operator==(const binding& a, const binding& b) {
    return a.kind_ == b.kind_ && a.list_ == b.list_;
  }
  friend bool operator!=(const binding& a, const binding& b) { return !(a == b); }

 private:
  enum class kind : unsigned char { unset, none, close, spread, list };

  explicit binding(kind which) : kind_(which) {}

  kind kind_ = kind::unset;
  std::vector<unsigned> list_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BINDING_HPP
