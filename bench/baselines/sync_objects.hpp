// SPDX-License-Identifier: MIT
// bench/baselines/sync_objects.hpp -- mutex, condition variable and barrier of a library, as measured
//
// Each library is a type with a name and those of the members `mutex`, `condition` and `barrier` that
// it has; a condition belongs to the mutex beside it. A barrier has the shape `all_with_all`.
#pragma once

#include <concepts>
#include <string_view>

#include "baselines/mechanism.hpp"

namespace bench {

template <class Library>
concept has_mutex =
    std::default_initializable<typename Library::mutex> && requires(typename Library::mutex& lock) {
      lock.lock();
      lock.unlock();
    };

template <class Library>
concept has_condition =
    has_mutex<Library> && std::default_initializable<typename Library::condition> &&
    requires(typename Library::condition& changed, typename Library::mutex& lock) {
      changed.wait(lock);  // the caller holds the lock
      changed.notify_all();
    };

template <class Library>
concept has_barrier = all_with_all<typename Library::barrier>;

template <class Library>
concept sync_objects = (has_mutex<Library> || has_barrier<Library>) && requires {
  { Library::name } -> std::convertible_to<std::string_view>;
};

}  // namespace bench
