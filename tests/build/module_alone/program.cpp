// SPDX-License-Identifier: MIT
// A program whose only unit includes nothing: all that it has of the library comes from the module's object.
import lockstep;

namespace {

int adds_in_a_region() {
  lockstep::team team(3);
  lockstep::mutex lock;
  int locked = 0, summed = 0;
  team.run([&](lockstep::member& me) {
    lock.lock();
    ++locked;
    lock.unlock();
    const int sum = me.sync_sum(1);
    lockstep::trace_mark("in the importing unit");
    me.single([&] { summed = sum; });
  });
  return locked * 10 + summed;
}

int adds_in_a_loop() {
  lockstep::team team(2);
  int values[100] = {};
  team.for_each(0, 100, [&](int i) { values[i] = i; });
  int sum = 0;
  for (const int each : values) sum += each;
  return sum;
}

bool notifies() {
  lockstep::event there;
  lockstep::joinable_thread other([&] { there.notify(); });
  const bool came = there.wait();
  other.join();
  return came;
}

}  // namespace

int main() { return adds_in_a_region() == 33 && adds_in_a_loop() == 4950 && notifies() ? 0 : 1; }
