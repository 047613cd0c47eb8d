// SPDX-License-Identifier: MIT
// tests/platform/topology_test.cpp -- this machine, and what Windows and macOS tell, as records of the test
#include <lockstep/topology.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "platform/topology.hpp"

namespace {

using lockstep::core_kind;
using lockstep::cpu_place;
using lockstep::detail::cpu_topology;
using numbers = std::vector<unsigned>;
constexpr core_kind fast = core_kind::performance, small = core_kind::efficiency,
                    unknown = core_kind::unknown;

numbers column(const cpu_topology& cpus, unsigned cpu_place::* member) {
  numbers result;
  for (const cpu_place& place : cpus) result.push_back(place.*member);
  return result;
}
std::vector<core_kind> kinds(const cpu_topology& cpus) {
  std::vector<core_kind> result;
  for (const cpu_place& place : cpus) result.push_back(place.kind);
  return result;
}

TEST(topology, of_this_machine_has_a_place_for_each_usable_cpu) {
  const lockstep::topology here = lockstep::topology::of_this_thread();
  const numbers usable = lockstep::detail::affinity();
  ASSERT_FALSE(here.cpus().empty());
  if (!usable.empty()) {
    EXPECT_EQ(column(here.cpus(), &cpu_place::cpu), usable);
  }
  for (std::size_t cpu_count = here.cpus().size(); const cpu_place& place : here.cpus()) {
    EXPECT_LT(place.core, here.cores());
    EXPECT_LT(place.package, here.packages());
    EXPECT_LT(place.node, here.nodes());
    EXPECT_LT(place.cache, here.caches());
    EXPECT_LT(place.sibling, cpu_count);
  }
  for (const std::size_t count : {here.cores(), here.packages(), here.nodes(), here.caches()}) {
    EXPECT_GE(count, 1u);
    EXPECT_LE(count, here.cpus().size());
  }
}

TEST(topology, of_usable_cpus_is_looked_at_once) {
  const cpu_topology& cpus = lockstep::detail::usable_topology();
  EXPECT_EQ(column(cpus, &cpu_place::cpu), lockstep::detail::affinity());
  EXPECT_EQ(&lockstep::detail::usable_topology(), &cpus);
}

TEST(topology, counts_what_its_cpus_share) {
  const lockstep::topology empty({});
  EXPECT_EQ(empty.cores() + empty.caches() + empty.nodes() + empty.packages(), 0u);
  EXPECT_FALSE(empty.has_kinds());
  const lockstep::topology four({{0, 0, 0, 0, unknown, 0, 0},
                                 {1, 0, 0, 1, unknown, 0, 0},
                                 {2, 1, 0, 0, small, 1, 1},
                                 {3, 2, 0, 0, fast, 1, 2}});
  EXPECT_EQ(four.cores(), 3u);
  EXPECT_EQ(four.caches(), 3u);
  EXPECT_EQ(four.nodes(), 2u);
  EXPECT_EQ(four.packages(), 1u);
  EXPECT_TRUE(four.has_kinds());
  EXPECT_FALSE(lockstep::topology({four.cpus()[0]}).has_kinds());
}

/// Records as GetLogicalProcessorInformationEx writes them, with pointers of `Word`.
template <class Word>
class records {
 public:
  struct group {
    std::uint16_t number;
    Word mask;
  };
  enum relation : std::uint32_t { core = 0, node = 1, cache = 2, package = 3, groups = 4, die = 5 };

  /// `at_8`: the bytes behind relation and size.
  records& add(relation what, std::vector<unsigned char> at_8, std::vector<group> on,
               bool says_how_many = true) {
    const std::size_t masks = what == cache ? 40 : 32, each = sizeof(Word) + 8;
    std::vector<unsigned char> one(masks + on.size() * each);
    put(one, 0, std::uint32_t{what});
    put(one, 4, static_cast<std::uint32_t>(one.size()));
    std::copy(at_8.begin(), at_8.end(), one.begin() + 8);
    if (says_how_many) put(one, masks - 2, static_cast<std::uint16_t>(on.size()));
    for (std::size_t i = 0; i < on.size(); ++i) {
      put(one, masks + i * each, on[i].mask);
      put(one, masks + i * each + sizeof(Word), on[i].number);
    }
    bytes_.insert(bytes_.end(), one.begin(), one.end());
    return *this;
  }
  records& core_of(std::uint8_t efficiency, std::vector<group> on) {
    return add(core, {1, efficiency}, on);
  }
  /// Type 0: unified, 1: instructions, 2: data.
  records& cache_of(std::uint8_t level, std::uint8_t type, std::vector<group> on) {
    return add(cache, {level, 8, 64, 0, 0, 0, 0, 0, type}, on, false);
  }
  cpu_topology read() const { return read(bytes_.size()); }
  cpu_topology read(std::size_t size) const {
    return lockstep::detail::windows_records::read(bytes_.data(), size, sizeof(Word));
  }
  std::vector<unsigned char>& bytes() { return bytes_; }

 private:
  template <class Number>
  static void put(std::vector<unsigned char>& to, std::size_t at, Number number) {
    std::memcpy(&to[at], &number, sizeof number);
  }

  std::vector<unsigned char> bytes_;
};

template <class Word>
records<Word> hybrid_laptop() {
  // Two fast cores of two CPUs, four efficient ones, two of which have no L3.
  records<Word> all;
  all.core_of(1, {{0, 0x03}}).core_of(1, {{0, 0x0c}});
  for (const Word mask : {0x10u, 0x20u, 0x40u, 0x80u}) all.core_of(0, {{0, mask}});
  all.cache_of(1, 2, {{0, 0x03}}).cache_of(2, 0, {{0, 0x03}}).cache_of(2, 0, {{0, 0x0c}});
  all.cache_of(2, 0, {{0, 0x30}}).cache_of(2, 0, {{0, 0xc0}}).cache_of(3, 0, {{0, 0x3f}});
  all.cache_of(4, 1, {{0, 0xff}});  // for instructions: none there is, and none that counts
  all.add(records<Word>::package, {}, {{0, 0xff}}).add(records<Word>::node, {}, {{0, 0xff}}, false);
  return all;
}

TEST(windows_records, cores_caches_and_kinds_of_a_hybrid) {
  for (const cpu_topology& cpus :
       {hybrid_laptop<std::uint64_t>().read(), hybrid_laptop<std::uint32_t>().read()}) {
    EXPECT_EQ(column(cpus, &cpu_place::cpu), numbers({0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(column(cpus, &cpu_place::core), numbers({0, 0, 1, 1, 2, 3, 4, 5}));
    EXPECT_EQ(column(cpus, &cpu_place::sibling), numbers({0, 1, 0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(column(cpus, &cpu_place::cache), numbers({0, 0, 0, 0, 0, 0, 1, 1}));
    EXPECT_EQ(column(cpus, &cpu_place::package), numbers(8, 0));
    EXPECT_EQ(column(cpus, &cpu_place::node), numbers(8, 0));
    EXPECT_EQ(kinds(cpus),
              (std::vector<core_kind>{fast, fast, fast, fast, small, small, small, small}));
  }
}

TEST(windows_records, groups_of_processors_are_numbered_by_64) {
  records<std::uint64_t> all;
  for (const std::uint8_t group : {std::uint8_t{0}, std::uint8_t{1}}) {
    for (const std::uint64_t mask : {1u, 2u}) all.core_of(0, {{group, mask}});
    all.cache_of(3, 0, {{group, 3}});
    all.add(records<std::uint64_t>::node, {group, 0}, {{group, 3}});
  }
  all.add(records<std::uint64_t>::package, {}, {{0, 3}, {1, 3}});
  all.add(records<std::uint64_t>::groups, {1, 2, 3}, {})
      .add(records<std::uint64_t>::die, {}, {{0, 1}});
  const cpu_topology cpus = all.read();
  EXPECT_EQ(column(cpus, &cpu_place::cpu), numbers({0, 1, 64, 65}));
  EXPECT_EQ(column(cpus, &cpu_place::core), numbers({0, 1, 2, 3}));
  EXPECT_EQ(column(cpus, &cpu_place::cache), numbers({0, 0, 1, 1}));
  EXPECT_EQ(column(cpus, &cpu_place::node), numbers({0, 0, 1, 1}));
  EXPECT_EQ(column(cpus, &cpu_place::package), numbers(4, 0));
  EXPECT_EQ(kinds(cpus), std::vector<core_kind>(4, unknown));
}

TEST(windows_records, broken_ones_are_as_none) {
  records<std::uint64_t> all = hybrid_laptop<std::uint64_t>();
  EXPECT_TRUE(all.read(0).empty());
  for (std::size_t size = 1; size < all.bytes().size(); ++size) {
    const cpu_topology cut = all.read(size);  // at the end of a record it is a shorter list
    EXPECT_LE(cut.size(), 8u) << size;
    if (size % 8 != 0) {
      EXPECT_TRUE(cut.empty()) << size;
    }
  }
  all.bytes()[4] = 0;  // a record without a length
  EXPECT_TRUE(all.read().empty());
  all.bytes()[4] = 40;  // one that says that it ends before its masks
  EXPECT_TRUE(all.read().empty());
  all = hybrid_laptop<std::uint64_t>();
  all.bytes()[30] = 200;  // more groups than fit
  EXPECT_TRUE(all.read().empty());
}

}  // namespace
