// SPDX-License-Identifier: MIT
// tests/edges/refused/refused.cpp -- functions and values of a wrong type, one for each value of REFUSED
#include "headers.hpp"

namespace {

double half(std::size_t) { return 0.5; }
int one(std::size_t) { return 1; }
std::unique_ptr<int> made(std::size_t) { return std::unique_ptr<int>(new int(1)); }
std::unique_ptr<int> first_of(std::unique_ptr<int> a, const std::unique_ptr<int>&) { return a; }

struct rigid {
  const int value;
};

// No index, and no member, converts to its argument.
double of_text(const char*) { return 0.5; }
void takes_text(const char*) {}
void takes_index(int) {}
void takes_indices(int, int) {}

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(throws_when_moved&&) {}
  void operator()() const {}
};

}  // namespace

int main() {
  lockstep::team team(2);
#if REFUSED == 0
  team.reduce_each(0, 9, 0.0f, half, std::plus<float>());
  team.reduce_each(0, 9, static_cast<short>(0), one, std::plus<int>());
  team.reduce_each(0, 9, made(0), made, first_of);
#elif REFUSED == 1
  team.reduce_each(0, 9, 0, half, std::plus<double>());
#elif REFUSED == 2
  team.reduce_each(0, 9, 0, one, [](int a, int b) { return a + 0.5 * b; });
#elif REFUSED == 3
  team.reduce_each(0, 9, 0, one, [](int& a, int b) { return a += b; });
#elif REFUSED == 4
  team.reduce_each(
      0, 9, std::string(), [](std::size_t) { return &half; }, std::plus<std::string>());
#elif REFUSED == 5
  team.run([](lockstep::member& me) { me.reduce_each(0, 9, made(0), made, first_of); });
#elif REFUSED == 6
  team.reduce_each<const int>(0, 9, 0, one, std::plus<int>());
#elif REFUSED == 7
  team.reduce_each(
      0, 9, rigid{0}, [](std::size_t) { return rigid{1}; }, [](rigid a, rigid) { return a; });
#elif REFUSED == 8
  team.reduce_each(0, 9, 0, one, [](int, int) { return std::string(); });
#elif REFUSED == 9
  team.for_each(0, 9, takes_text);
#elif REFUSED == 10
  team.run([](lockstep::member& me) { me.for_each(0, 9, takes_text); });
#elif REFUSED == 11
  team.run([](lockstep::member& me) {
    me.for_each(lockstep::index_range_2{{0, 2}, {0, 2}}, [](std::size_t) {});
  });
#elif REFUSED == 12
  team.run([](lockstep::member& me) { me.for_range(0, 9, [](int) {}); });
#elif REFUSED == 13
  team.run([](lockstep::member& me) { me.for_ordered(0, 9, [](int) {}); });
#elif REFUSED == 14
  team.run([](lockstep::member& me) { me.sections(takes_text); });
#elif REFUSED == 15
  team.sections(takes_text);
#elif REFUSED == 16
  team.reduce_each(0, 9, 0.0, of_text, std::plus<double>());
#elif REFUSED == 17
  team.run([](lockstep::member& me) { me.reduce_range(0, 9, 0.0, half, std::plus<double>()); });
#elif REFUSED == 18
  team.scan_each(0, 9, 0.0, of_text, std::plus<double>(), [](int, double) {});
#elif REFUSED == 19
  team.for_each(0.0, 9.0, [](double) {});
#elif REFUSED == 20
  team.for_each(
      lockstep::index_range_2{lockstep::index_range(0.0, 2.0), lockstep::index_range(0, 2)},
      [](std::size_t, std::size_t) {});
#elif REFUSED == 21
  lockstep::value_and_index<double, double> found{0.5, 1.0};
  static_cast<void>(found);
#elif REFUSED == 22
  team.reduce_each(
      0, 9, std::make_tuple(0, 0), [](int i) { return std::make_tuple(i, i); },
      lockstep::together(lockstep::plus()));
#elif REFUSED == 23
  team.run(takes_text);
#elif REFUSED == 24
  const std::string text = "too large for a copy";
  lockstep::started_region region = team.start([text](lockstep::member&) {});
  region.join();
#elif REFUSED == 25
  team.run([](lockstep::member& me) { me.single(takes_text); });
#elif REFUSED == 26
  lockstep::per_member<int>(team).combine(0, takes_text);
#elif REFUSED == 27
  lockstep::per_member<int>(team).combine(takes_text);
#elif REFUSED == 28
  lockstep::per_member<std::unique_ptr<int>>(team).combine(first_of);
#elif REFUSED == 29
  const std::string texts[3];
  lockstep::mailbox(2).post([texts] { static_cast<void>(texts); });
#elif REFUSED == 30
  lockstep::mailbox(2).post(throws_when_moved());
#elif REFUSED == 31
  team.run([](lockstep::member& me) { me.for_each(0, 9, takes_index, lockstep::nowait); });
#elif REFUSED == 32
  team.run([](lockstep::member& me) { me.for_range(0, 9, takes_indices, lockstep::nowait); });
#elif REFUSED == 33
  team.run([](lockstep::member& me) {
    const int sum = me.reduce_each(lockstep::nowait, 0, 9, 0, one, std::plus<int>());
    static_cast<void>(sum);
  });
#elif REFUSED == 34
  team.run([](lockstep::member& me) { me.single([] {}, lockstep::nowait); });
#elif REFUSED == 35
  team.run([](lockstep::member& me) { me.sections([] {}, [] {}, lockstep::nowait); });
#elif REFUSED == 36
  team.for_each(9, takes_index);
#elif REFUSED == 37
  team.run([](lockstep::member& me) { me.for_each(9, takes_index, lockstep::static_schedule(3)); });
#elif REFUSED == 38
  const double sum = team.reduce_each(9, 0.0, half, std::plus<double>());
  static_cast<void>(sum);
#elif REFUSED == 39
  team.run([](lockstep::member& me) { me.single([](lockstep::member&) {}); });
#elif REFUSED == 40
  team.run([](lockstep::member& me) { me.for_each(lockstep::nowait, 9, takes_index); });
#elif REFUSED == 41
  team.for_each(0, 9, takes_index, lockstep::nowait);
#elif REFUSED == 42
  team.run([](lockstep::member& me) {
    me.scan_each(9, 0.0, half, std::plus<double>(), [](std::size_t, double) {});
  });
#elif REFUSED == 43
  team.run([](lockstep::member& me) { me.for_ordered(0, 9, takes_index, lockstep::nowait); });
#elif REFUSED == 44
  team.run([](lockstep::member& me) { me.single(lockstep::nowait, takes_text); });
#elif REFUSED == 45
  team.for_range(0, 9, [](int) {});
#elif REFUSED == 46
  team.for_range(9, takes_indices);
#elif REFUSED == 47
  team.for_range(lockstep::nowait, 0, 9, takes_indices);
#elif REFUSED == 48
  const int sum = team.reduce_range(9, 0, one, std::plus<int>());
  static_cast<void>(sum);
#elif REFUSED == 49
  const int sum = team.reduce_range(0, 9, 0, one, std::plus<int>());
  static_cast<void>(sum);
#elif REFUSED == 50  // compiles, with a warning for each
  const auto each = [](int) {};
  team.parallel_for(0, 9, each, lockstep::static_schedule(2));
  team.parallel_for_2d({0, 3}, {0, 3}, [](int, int) {});
  team.parallel_for_3d({0, 3}, {0, 3}, {0, 3}, [](int, int, int) {});
  team.parallel_invoke([] {}, [] {});
  double sum = team.parallel_reduce(0, 9, 0.0, half, std::plus<double>());
  sum += team.parallel_scan(0, 9, 0.0, half, std::plus<double>(), [](std::size_t, double) {});
  static_cast<void>(sum);
#elif REFUSED == 51
  team.sections(lockstep::nowait, [] {});
#elif REFUSED == 52
  team.for_each(std::string("abc"), takes_index);
#elif REFUSED == 53
  std::string text = "abc";
  team.run([&](lockstep::member& me) { me.for_each(text, takes_index); });
#elif REFUSED == 54
  team.for_each(0, 9, takes_index, 16);
#elif REFUSED == 55
  team.run([](lockstep::member& me) { me.for_range(0, 9, 4, takes_indices); });
#elif REFUSED == 56
  team.run([](lockstep::member) {});
#elif REFUSED == 57
  team.reduce_each(0, 9, 0.0, [](std::size_t) {}, std::plus<double>());
#endif
}
