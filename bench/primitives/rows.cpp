// SPDX-License-Identifier: MIT
#include "primitives/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "baselines/lockstep_mechanism.hpp"
#include "baselines/naive.hpp"
#include "baselines/original.hpp"
#include "baselines/standard.hpp"
#include "primitives/cyclic_scheduler.hpp"
#include "primitives/parallel_scheduler.hpp"

namespace bench::primitives {
namespace {

struct experiment_details {
  std::string_view name;
  std::string_view title;
  std::vector<std::size_t> threads;
};

const experiment_details& details(experiment kind) {
  static const std::array<experiment_details, 3> all{{
      {"cyclic", "cyclic scheduler", {2, 3, 5, 10, 100}},
      {"parallel", "parallel scheduler", {4, 16, 64}},
      {"sync", "parallel scheduler with syncThread", {4, 16, 64}},
  }};
  return all[static_cast<std::size_t>(kind)];
}

/// One maker for each experiment; empty where the mechanism has no part in it.
struct mechanism_entry {
  std::string_view name;
  std::array<scheduler_maker, 3> makers;
};

template <class Scheduler>
std::unique_ptr<scheduler> make(std::size_t threads) {
  return std::make_unique<Scheduler>(threads);
}

template <mechanism Mechanism>
mechanism_entry entry() {
  return {Mechanism::name,
          {make<cyclic_scheduler<Mechanism>>, make<parallel_scheduler<Mechanism, false>>,
           make<parallel_scheduler<Mechanism, true>>}};
}

const std::vector<mechanism_entry>& mechanisms() {
  static const std::vector<mechanism_entry> all{
      entry<original::mechanism>(),
      {naive::name, {scheduler_maker(), make<naive_scheduler>, scheduler_maker()}},
      entry<standard::mechanism>(),
      entry<lockstep_mechanism>(),
  };
  return all;
}

const scheduler_maker& maker_of(const mechanism_entry& entry, experiment kind) {
  return entry.makers[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string name(const row& which) {
  return fmt::format("{}/{}/{}", details(which.kind).name, which.threads, which.mechanism);
}

std::string_view title(const row& which) { return details(which.kind).title; }

std::size_t full_operations(const row& which) {
  return which.kind == experiment::cyclic ? full_rounds * which.threads : full_rounds;
}

std::vector<std::string_view> mechanism_names() {
  std::vector<std::string_view> names;
  for (const mechanism_entry& entry : mechanisms()) names.push_back(entry.name);
  return names;
}

std::vector<row> all_rows() {
  std::vector<row> rows;
  for (const experiment kind : {experiment::cyclic, experiment::parallel, experiment::sync}) {
    for (const std::size_t threads : details(kind).threads) {
      for (const mechanism_entry& entry : mechanisms()) {
        if (maker_of(entry, kind)) rows.push_back({kind, threads, entry.name});
      }
    }
  }
  return rows;
}

std::unique_ptr<scheduler> make_scheduler(const row& which) {
  const auto entry =
      std::find_if(mechanisms().begin(), mechanisms().end(),
                   [&](const mechanism_entry& e) { return e.name == which.mechanism; });
  return maker_of(*entry, which.kind)(which.threads);
}

}  // namespace bench::primitives
