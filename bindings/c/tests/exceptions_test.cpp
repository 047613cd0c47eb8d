// SPDX-License-Identifier: MIT
// Callbacks in C++ that throw: the exception becomes a code and a text, and the others are released. The header in C++11.
#include <lockstep.h>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "check.h"

namespace {

struct no_exception_of_the_library {};

int region(lockstep_member* me, void* context) {
  if (lockstep_member_rank(me) == *static_cast<std::size_t*>(context)) {
    throw std::runtime_error("thrown by a member");
  }
  int code;
  while ((code = lockstep_member_sync_threads(me)) == LOCKSTEP_OK) {
  }
  return code;
}
int region_with_something_else(lockstep_member*, void*) { throw no_exception_of_the_library(); }
int region_with_an_argument(lockstep_member*, void*) { throw std::invalid_argument("yours"); }

int block(std::int64_t first, std::int64_t last, void*) {
  if (first <= 7 && 7 < last) throw std::out_of_range("thrown by a block");
  return 0;
}
int value(std::int64_t, std::int64_t, double*, void*) {
  throw std::logic_error("thrown by a value");
}
int plain_value(std::int64_t, std::int64_t, void*, void*) { return 0; }
void combine(void*, const void*, void*) { throw std::runtime_error("thrown by a combination"); }
int single(void*) { throw std::runtime_error("thrown by a single"); }

/// In a member's loop: the construct returns the code, and the callback hands it on.
int member_loop(lockstep_member* me, void*) {
  const int code = lockstep_member_for_range(me, 0, 100, LOCKSTEP_STATIC, 0, block, nullptr);
  return code != LOCKSTEP_OK ? code : lockstep_member_sync_threads(me);
}
int member_reduction(lockstep_member* me, void*) {
  double sum = 0;
  return lockstep_member_reduce_double(me, 0, 100, LOCKSTEP_SUM, value, nullptr, &sum);
}
int member_single(lockstep_member* me, void*) {
  return lockstep_member_single(me, single, nullptr);
}
int member_combination(lockstep_member* me, void*) {
  double mine = 1;
  return lockstep_member_sync_reduce(me, sizeof mine, &mine, combine, nullptr);
}
int node(std::size_t, void*) { throw std::runtime_error("thrown by a node"); }
int test(std::size_t, int*, void*) { throw std::runtime_error("thrown by a test"); }

/// An exception on its way through the callback of an outer region is not one of the library's.
int nested(lockstep_member*, void* context) {
  return lockstep_team_run(static_cast<lockstep_team*>(context), region_with_an_argument, nullptr);
}

void all(std::size_t members) {
  lockstep_team* team = check_team(members);
  for (std::size_t rank = 0; rank < members; ++rank) {
    CHECK_FAILS(lockstep_team_run(team, region, &rank), LOCKSTEP_ERROR_EXCEPTION,
                "a callback has thrown: thrown by a member");
  }
  CHECK_FAILS(lockstep_team_run(team, region_with_something_else, nullptr),
              LOCKSTEP_ERROR_EXCEPTION, "no std::exception");
  CHECK_FAILS(lockstep_team_run(team, region_with_an_argument, nullptr), LOCKSTEP_ERROR_EXCEPTION,
              "yours");
  CHECK_FAILS(lockstep_team_run(team, nested, team), LOCKSTEP_ERROR_EXCEPTION, "yours");
  for (int round = 0; round < 20; ++round) {
    CHECK_FAILS(lockstep_team_for_range(team, 0, 1000, block, nullptr), LOCKSTEP_ERROR_EXCEPTION,
                "thrown by a block");
  }
  double sum = 1;
  CHECK_FAILS(lockstep_team_reduce_double(team, 0, 1000, LOCKSTEP_SUM, value, nullptr, &sum),
              LOCKSTEP_ERROR_EXCEPTION, "thrown by a value");
  CHECK_FAILS(lockstep_team_reduce(team, 0, 1000, 8, plain_value, combine, nullptr, &sum),
              LOCKSTEP_ERROR_EXCEPTION, "thrown by a combination");
  CHECK(sum == 1);
  CHECK_FAILS(lockstep_team_run(team, member_loop, nullptr), LOCKSTEP_ERROR_EXCEPTION,
              "thrown by a block");
  CHECK_FAILS(lockstep_team_run(team, member_reduction, nullptr), LOCKSTEP_ERROR_EXCEPTION,
              "thrown by a value");
  CHECK_FAILS(lockstep_team_run(team, member_single, nullptr), LOCKSTEP_ERROR_EXCEPTION,
              "thrown by a single");
  if (members > 1) {
    CHECK_FAILS(lockstep_team_run(team, member_combination, nullptr), LOCKSTEP_ERROR_EXCEPTION,
                "thrown by a combination");
  }

  lockstep_graph* graph = nullptr;
  lockstep_plan* plan = nullptr;
  std::size_t number = 0;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_node(graph, "node", node, nullptr, &number));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_FAILS(lockstep_plan_run(plan, 3), LOCKSTEP_ERROR_EXCEPTION, "thrown by a node");
  CHECK_FAILS(lockstep_plan_run_until(plan, test, nullptr), LOCKSTEP_ERROR_EXCEPTION,
              "thrown by a test");
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
  CHECK_OK(lockstep_team_destroy(team));
}

/// Longer than the library keeps.
int long_text(lockstep_member*, void*) { throw std::runtime_error(std::string(100000, 'x')); }

}  // namespace

int main() {
  all(1);
  all(2);
  all(6);
  lockstep_team* team = check_team(1);
  CHECK_FAILS(lockstep_team_run(team, long_text, nullptr), LOCKSTEP_ERROR_EXCEPTION, "xxx");
  CHECK(std::strlen(lockstep_last_error()) < 2000);
  CHECK(std::string(lockstep_last_error()).substr(std::strlen(lockstep_last_error()) - 3) == "...");
  CHECK_OK(lockstep_team_destroy(team));
  return check_result();
}
