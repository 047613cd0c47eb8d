// SPDX-License-Identifier: MIT
// tests/edges/refused/refused.cpp -- reductions with a wrong type, one for each value of REFUSED
#include <lockstep/team.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace {

double half(std::size_t) { return 0.5; }
int one(std::size_t) { return 1; }
std::unique_ptr<int> made(std::size_t) { return std::unique_ptr<int>(new int(1)); }
std::unique_ptr<int> first_of(std::unique_ptr<int> a, const std::unique_ptr<int>&) { return a; }

struct rigid {
  const int value;
};

}  // namespace

int main() {
  lockstep::team team(2);
#if REFUSED == 0
  team.parallel_reduce(0, 9, 0.0f, half, std::plus<float>());
  team.parallel_reduce(0, 9, static_cast<short>(0), one, std::plus<int>());
  team.parallel_reduce(0, 9, made(0), made, first_of);
#elif REFUSED == 1
  team.parallel_reduce(0, 9, 0, half, std::plus<double>());
#elif REFUSED == 2
  team.parallel_reduce(0, 9, 0, one, [](int a, int b) { return a + 0.5 * b; });
#elif REFUSED == 3
  team.parallel_reduce(0, 9, 0, one, [](int& a, int b) { return a += b; });
#elif REFUSED == 4
  team.parallel_reduce(
      0, 9, std::string(), [](std::size_t) { return &half; }, std::plus<std::string>());
#elif REFUSED == 5
  team.run([](lockstep::member& me) { me.reduce_each(0, 9, made(0), made, first_of); });
#elif REFUSED == 6
  team.parallel_reduce<const int>(0, 9, 0, one, std::plus<int>());
#elif REFUSED == 7
  team.parallel_reduce(
      0, 9, rigid{0}, [](std::size_t) { return rigid{1}; }, [](rigid a, rigid) { return a; });
#endif
}
