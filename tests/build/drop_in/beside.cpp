// SPDX-License-Identifier: MIT
// The drop-in beside the library, which is one header or many: in one unit and in one program, in both orders.
#include FIRST
#include SECOND

#include <cstdio>

int main() {
  WaitNotifyEachOther both(2);
  lockstep::team team(2);
  int ranks = 0;
  team.run([&](lockstep::member& me) {
    both.syncThreads(static_cast<int>(me.rank()));
    const int sum = me.sync_sum(1);
    if (me.rank() == 0) ranks = sum;
  });
  std::puts(ranks == 2 ? "ok" : "wrong");
  return ranks == 2 ? 0 : 1;
}
