// SPDX-License-Identifier: MIT
// lockstep/detail/team/dependants.hpp -- objects that end with their region at the latest (layer: team)
//
// Members make them together (sub_team.hpp), and the last to let go destroys them. Where a region is
// stopped, some members may never have come to let go: who runs the regions destroys what is left.
#ifndef LOCKSTEP_DETAIL_TEAM_DEPENDANTS_HPP
#define LOCKSTEP_DETAIL_TEAM_DEPENDANTS_HPP

#include <new>

#include "../wait/short_lock.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct dependant {
  virtual ~dependant() = default;
  dependant* next = nullptr;
};

class dependants {
 public:
  dependants() = default;
  ~dependants() { destroy_all(); }
  dependants(const dependants&) = delete;
  dependants& operator=(const dependants&) = delete;

  /// Takes over what `new` has made.
  void add(dependant& one) {
    lock_.lock();
    one.next = first_;
    first_ = &one;
    lock_.unlock();
  }
  void destroy(dependant& one) {
    lock_.lock();
    dependant** at = &first_;
    while (*at != &one) at = &(*at)->next;
    *at = one.next;
    lock_.unlock();
    delete &one;
  }
  /// In a child process: whoever held the lock is not there.
  void forget_others() noexcept { ::new (static_cast<void*>(&lock_)) short_lock(); }
  /// While nobody else uses this object.
  void destroy_all() {
    while (first_ != nullptr) {
      dependant* const one = first_;
      first_ = one->next;
      delete one;
    }
  }

 private:
  short_lock lock_;
  dependant* first_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_DEPENDANTS_HPP
