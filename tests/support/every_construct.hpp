// SPDX-License-Identifier: MIT
// tests/support/every_construct.hpp -- one region's worth of everything that a member can do
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <lockstep/sub_team.hpp>

namespace lockstep::test {

/// Every construct once, with shared places and steps in use; wrong results are counted.
inline int use_everything(member& self, std::vector<int>& visits) {
  const std::size_t size = self.size(), n = visits.size();
  int wrong = 0;
  const auto visit = [&](std::size_t i) { ++visits[i]; };
  const auto expect_all = [&](int value) {
    for (const int each : visits) wrong += each != value;
    wrong += !self.sync_threads();
  };
  wrong += !self.sync_threads();
  wrong += !self.single([&] { std::fill(visits.begin(), visits.end(), 0); });
  wrong += self.sync_sum(std::size_t{1}) != size;
  wrong += self.sync_sum(std::string(17, 'x')).size() != 17 * size;
  wrong += self.broadcast(size - 1, self.rank()) != size - 1;
  wrong += !self.for_each(0, n, visit, dynamic_schedule(2));
  expect_all(1);
  wrong += !self.for_each(0, n, visit, guided_schedule());
  expect_all(2);
  wrong += !self.for_each(0, n, visit);
  expect_all(3);
  std::size_t mine = 0;
  wrong += !self.for_ordered(0, n, [&](std::size_t i, ordered_turn& turn) {
    wrong += !turn([&] { visits[i] = static_cast<int>(i); });
    ++mine;
  });
  wrong += self.sync_sum(mine) != n;
  const auto one = [](std::size_t) { return 1.0; };
  wrong += self.reduce_each(0, n, 0.0, one, std::plus<double>()) != static_cast<double>(n);
  wrong += self.reduce_each(0, n, 0.0, one, std::plus<double>(), dynamic_schedule()) !=
           static_cast<double>(n);
  wrong += self.scan_each(0, n, 0.0, one, std::plus<double>(), [](std::size_t, double) {}) !=
           static_cast<double>(n);
  std::size_t sections_done = 0;
  wrong += !self.sections([&] { ++sections_done; }, [&] { ++sections_done; });
  wrong += self.sync_sum(sections_done) != 2;
  self.publish(3);
  wrong += !self.await_step((self.rank() + 1) % size, 3);
  sub_team half = self.split(self.rank() % 2);
  wrong += half->sync_sum(std::size_t{1}) != (size + 1 - self.rank() % 2) / 2;
  return wrong;
}

}  // namespace lockstep::test
