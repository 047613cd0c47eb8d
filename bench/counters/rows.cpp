// SPDX-License-Identifier: MIT
#include "counters/rows.hpp"

#include <algorithm>
#include <array>
#include <lockstep/mutex.hpp>
#include <mutex>
#include <thread>

#include "baselines/posix_objects.hpp"
#include "counters/counters.hpp"
#include "support/placement.hpp"

namespace bench::counters {
namespace {

/// One thread after the other, which here is the calling one.
counted count_serially(const counting& how) {
  racy_counter counter(how.threads);
  const stopwatch watch;
  for (std::size_t rank = 0; rank < how.threads; ++rank) counter.work(rank, how.count);
  return {watch.elapsed(), counter.result()};
}

/// Threads that shared a CPU, as new ones do for a while, would neither race nor contend.
template <class Counter>
counted count_in_parallel(const counting& how) {
  Counter counter(how.threads);
  const stopwatch watch;
  {
    std::vector<std::jthread> threads;
    threads.reserve(how.threads);
    for (std::size_t rank = 0; rank < how.threads; ++rank) {
      threads.emplace_back([&counter, rank, &how] {
        place(placement::dealt, rank);
        counter.work(rank, how.count);
      });
    }
  }
  return {watch.elapsed(), counter.result()};
}

struct method_entry {
  row which;
  counted (*run)(const counting&);
};

constexpr std::array methods{
    method_entry{{"serial"}, count_serially},
    method_entry{{"racy", true}, count_in_parallel<racy_counter>},
    method_entry{{"false-sharing"}, count_in_parallel<false_sharing_counter>},
    method_entry{{"padded"}, count_in_parallel<padded_counter>},
    method_entry{{"mutex-pthread"}, count_in_parallel<locked_counter<posix_objects::mutex>>},
    method_entry{{"mutex-std"}, count_in_parallel<locked_counter<std::mutex>>},
    method_entry{{"mutex-lockstep"}, count_in_parallel<locked_counter<lockstep::mutex>>},
    method_entry{{"fetch-add"}, count_in_parallel<atomic_counter>},
};

}  // namespace

std::string name(const row& which) { return std::string(which.method); }

std::vector<row> all_rows() {
  std::vector<row> rows;
  for (const method_entry& method : methods) rows.push_back(method.which);
  return rows;
}

counted run(const row& which, const counting& how) {
  const auto method = std::find_if(methods.begin(), methods.end(),
                                   [&](const method_entry& one) { return one.which == which; });
  return method->run(how);
}

}  // namespace bench::counters
