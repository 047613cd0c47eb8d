// SPDX-License-Identifier: MIT
// tests/edges/oldest_standard/aligned_values.cpp -- over-aligned values in reductions, scans and hand-overs
//
// Without GoogleTest, which wants a newer standard. Every copy, move and use of a value looks at its address.
#include <lockstep/team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace {

std::atomic<int> misplaced(0);

template <std::size_t Alignment>
struct alignas(Alignment) aligned {
  double value;

  explicit aligned(double v) : value(v) { check(); }
  aligned(const aligned& other) : value(other.value) { check(); }
  aligned& operator=(const aligned& other) {
    value = other.value;
    check();
    return *this;
  }
  ~aligned() { check(); }
  void check() const {
    if (reinterpret_cast<std::uintptr_t>(this) % Alignment != 0) ++misplaced;
  }
};

/// Trivially copyable: what vector registers hold.
struct alignas(32) four {
  double value[4];
};

template <class T>
struct sum_of {
  T operator()(const T& a, const T& b) const {
    a.check();
    b.check();
    return T(a.value + b.value);
  }
};

int wrong = 0;
void expect(double found, double expected, const char* what) {
  if (found == expected) return;
  std::printf("%s: %g, expected %g\n", what, found, expected);
  ++wrong;
}

template <class T>
void use(lockstep::team& workers) {
  const auto one = [](std::size_t) { return T(1); };
  const sum_of<T> sum = {};
  const auto store = [](std::size_t, const T& at) { at.check(); };
  const lockstep::schedule dynamic = lockstep::dynamic_schedule();
  expect(workers.reduce_each(0, 90, T(2), one, sum).value, 92, "reduce_each");
  expect(workers.reduce_each(0, 90, T(2), one, sum, dynamic).value, 92, "the same, dynamic");
  expect(workers.scan_each(0, 90, T(2), one, sum, store).value, 92, "scan_each");
  double met = 0, told = 0;
  workers.run([&](lockstep::member& me) {
    const T all = me.sync_reduce(T(1), sum);
    const T from = me.broadcast(me.size() - 1, T(7));
    if (me.rank() == 0) met = all.value, told = from.value;
  });
  expect(met, static_cast<double>(workers.size()), "sync_reduce");
  expect(told, 7, "broadcast");
}

}  // namespace

int main() {
  for (const std::size_t members : {1u, 2u, 3u, 9u}) {
    lockstep::team workers(members);
    use<aligned<32>>(workers);
    use<aligned<64>>(workers);
    use<aligned<256>>(workers);
    const auto ones = [](std::size_t) { return four{{1, 1, 1, 1}}; };
    const auto add = [](const four& a, const four& b) {
      return four{{a.value[0] + b.value[0], a.value[1] + b.value[1], a.value[2] + b.value[2],
                   a.value[3] + b.value[3]}};
    };
    const four zero = {};
    expect(workers.reduce_each(0, 90, zero, ones, add).value[3], 90, "four doubles");
  }
  expect(misplaced.load(), 0, "values that do not lie where they must");
  return wrong == 0 ? 0 : 1;
}
