// SPDX-License-Identifier: MIT
// tests/fuzz/environment_fuzz.cpp -- the input is the values of the four variables, parted by '~'
#include "team/placement.hpp"

#include <map>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "support/environment_texts.hpp"

namespace {

using lockstep::detail::environment;
using lockstep::detail::resolved_team;
using lockstep::test::require;
namespace detail = lockstep::detail;

environment read(const std::map<std::string, std::string>& values) {
  return environment([&](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  });
}

void check_values(const environment& found) {
  const std::size_t members = found.members.value;
  require(found.members.is_set ? members >= 1 && members <= 65536 : members == 0,
          "a number of threads is possible");
  const auto time = found.policy.value.spin_time();
  require(time.count() >= 0 && time <= lockstep::wait_policy::longest_spin(), "a spin time fits");
  require(!found.policy.value.is_crowded(), "the user does not know whether a team is crowded");
  require(found.bind.is_set != found.bind.value.is_unset(), "a binding that is set is one");
  const std::vector<unsigned>& list = found.bind.value.list();
  require(list.size() <= detail::max_cpus, "a list has bounds");
  for (const unsigned cpu : list) require(cpu < detail::max_cpus, "a CPU has bounds");
}

/// What was read, written by the library, is read as the same.
void check_round_trip(const environment& found) {
  const environment again = read({{found.members.name, std::to_string(found.members.value)},
                                  {found.policy.name, lockstep::test::text_of(found.policy.value)},
                                  {found.bind.name, lockstep::test::text_of(found.bind.value)}});
  require(!found.members.is_set || again.members.value == found.members.value, "members return");
  require(again.policy.value == found.policy.value, "policies return");
  require(!found.bind.is_set || again.bind.value == found.bind.value, "bindings return");
}

void check_messages(const environment& found) {
  for (const std::string& line : lockstep::test::complaints(found)) {
    lockstep::test::require_message(line, "LOCKSTEP_");
    require(line.find(" is ignored: must be ") != std::string::npos, "a complaint has a remedy");
  }
  for (const std::string& line : lockstep::test::descriptions(found)) {
    lockstep::test::require_message(line, "LOCKSTEP_");
    require(line.size() < 250, "a line is short");
  }
}

/// A team of such an environment on a machine of two packages, two cores each, two siblings each.
void check_team(const environment& found) {
  detail::cpu_topology cpus;
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    cpus.push_back({cpu, cpu / 2, cpu / 4, cpu % 2, lockstep::core_kind::unknown, 0, 0});
  }
  const resolved_team made = resolve(lockstep::team_options(), found, cpus.size(), cpus);
  require(made.members >= 1 && made.members <= 65536, "a team has a possible size");
  require(made.cpu_of_rank.empty() || made.cpu_of_rank.size() == made.members,
          "all members have a CPU, or none");
  for (const unsigned cpu : made.cpu_of_rank) require(cpu < 8, "a member's CPU is usable");
  require(made.is_crowded == made.policy.is_crowded() || made.policy.is_spin() ||
              made.policy.is_block(),
          "who listens knows that it is crowded");
  const detail::granted_cpus machine = {8, -1, {0, 1, 2, 3, 4, 5, 6, 7}};
  require(!describe(made, found, machine, lockstep::build_info()).empty(), "all is described");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = lockstep::test::parts_of(lockstep::test::text_of(data, size), '~', 4);
  const environment found = read({{"LOCKSTEP_NUM_THREADS", std::string(parts[0])},
                                  {"LOCKSTEP_WAIT_POLICY", std::string(parts[1])},
                                  {"LOCKSTEP_PROC_BIND", std::string(parts[2])},
                                  {"LOCKSTEP_DISPLAY_ENV", std::string(parts[3])}});
  check_values(found);
  check_round_trip(found);
  check_messages(found);
  check_team(found);
  return 0;
}
