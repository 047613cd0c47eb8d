// SPDX-License-Identifier: MIT
// bench/team/works/fork_works.hpp -- what an empty fork/join costs: hot, after idle; when members start
//
// A peer is made from a request and has fork(f), which calls f(rank) once for each and returns
// when all have returned.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/stopwatch.hpp"
#include "team/catalogue.hpp"
#include "team/executors.hpp"
#include "team/sampling.hpp"
#include "team/settled.hpp"

namespace team_bench {

/// Between two tries: everybody awake.
constexpr double warm_up_seconds = 0.002;

template <class Peer>
measurement measure_fork(const request& wanted) {
  Peer peer(wanted);
  return take_sample(wanted, [&](std::size_t operations) {
    for (std::size_t i = 0; i < operations; ++i) peer.fork(nothing);
  });
}

inline void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// How often something is tried after each an idle time of `idle` seconds.
inline std::size_t tries_for(const request& wanted, double idle) {
  const double fitting = 4 * wanted.seconds / (idle + 0.001);
  return fitting < 1 ? 1 : fitting > 50 ? 50 : static_cast<std::size_t>(fitting);
}

/// Share of the CPUs that the process uses in `idle` seconds, and NaN if that is too short to tell: what a thread
/// uses is counted up to 5 ms late while it runs.
constexpr double late_count = 0.005;
inline double idle_cpus(double idle) {
  if (idle < 2 * late_count) {
    sleep_for(idle);
    return std::numeric_limits<double>::quiet_NaN();
  }
  sleep_for(late_count);
  const bench::stopwatch watch;
  sleep_for(idle - late_count);
  const bench::elapsed_time time = watch.elapsed();
  return time.cpu_seconds / time.wall_seconds;
}

/// The first fork/join after --size milliseconds without. Its CPUs are those used meanwhile; `cpu_ns` is the
/// CPU time of all threads from the call until they had time to come to rest.
template <class Peer>
measurement measure_burst(const request& wanted) {
  const double idle = 0.001 * static_cast<double>(wanted.size == 0 ? 10 : wanted.size);
  Peer peer(wanted);
  std::vector<double> walls, busy, waste;
  for (std::size_t i = tries_for(wanted, idle + late_count); i > 0; --i) {
    warm_up(peer, warm_up_seconds);
    waste.push_back(idle_cpus(idle));
    const bench::stopwatch watch;
    peer.fork(nothing);
    walls.push_back(watch.wall_seconds() * 1e9);
    sleep_for(late_count);
    busy.push_back(watch.elapsed().cpu_seconds * 1e9);
  }
  measurement result;
  result.value = median(walls);
  result.cpus = median(waste);
  result.more["cpu_ns"] = median(busy);
  return result;
}

/// From the call to the last start, and from first to last start, after --size milliseconds of idle time.
template <class Peer>
measurement measure_starts(const request& wanted) {
  const double idle = 0.001 * static_cast<double>(wanted.size);
  Peer peer(wanted);
  slots starts(wanted.threads);
  std::vector<double> calls, skews;
  const std::size_t tries = wanted.size == 0 ? 2000 : tries_for(wanted, idle);
  const bench::stopwatch all;
  for (std::size_t i = 0; i < tries && (i == 0 || all.wall_seconds() < 10 * wanted.seconds); ++i) {
    if (wanted.size != 0) {
      warm_up(peer, warm_up_seconds);
      sleep_for(idle);
    }
    const double call = now_ns();
    peer.fork([&](std::size_t rank) { starts[rank] = now_ns(); });
    calls.push_back(starts.latest() - call);
    skews.push_back(starts.latest() - starts.earliest());
  }
  const bench::elapsed_time time = all.elapsed();
  measurement result;
  result.value = median(calls);
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.more["skew_ns"] = median(skews);
  return result;
}

template <class Peer>
void add_forks(catalogue& to, const std::string& peer) {
  to.push_back({"fork/join", peer, measure_fork<settled<Peer>>});
  to.push_back({"burst", peer, measure_burst<settled<Peer>>});
  to.push_back({"starts", peer, measure_starts<settled<Peer>>});
}

/// A peer that has region(f) too, calling f(member), where member has barrier().
template <class Peer>
measurement measure_barrier(const request& wanted) {
  Peer peer(wanted);
  return take_sample(wanted, [&](std::size_t operations) {
    peer.region([operations](auto& member) {
      for (std::size_t i = 0; i < operations; ++i) member.barrier();
    });
  });
}

template <class Peer>
void add_barrier(catalogue& to, const std::string& peer) {
  to.push_back({"barrier", peer, measure_barrier<settled<Peer>>});
}

}  // namespace team_bench
