// SPDX-License-Identifier: MIT
// bench/openmp/drivers/two_runtimes.cpp -- libraries of two compilers in one process, which call OpenMP in turn.
//
// two_runtimes_part.cpp is compiled by GCC and by Clang, each into a library of its own.
#include "openmp_case.hpp"

extern "C" double part_of_gcc(const double* numbers, int count);
extern "C" double part_of_clang(const double* numbers, int count);

int main() {
  for (const int count : {100, 10'000, 100'000}) {
    const std::vector<double> numbers(static_cast<std::size_t>(count), 0.5);
    double sum = 0;
    const int repetitions = 300;
    const openmp_case::times each = openmp_case::mean_of(repetitions, [&] {
      sum += part_of_gcc(numbers.data(), count);
      sum += part_of_clang(numbers.data(), count);
    });
    const bool is_right = sum == static_cast<double>(repetitions + 1) * count;
    openmp_case::print("both, " + std::to_string(count) + " numbers", is_right ? "right" : "wrong",
                       each);
  }
  openmp_case::print_runtime();
}
