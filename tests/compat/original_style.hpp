// SPDX-License-Identifier: MIT
// compat/original_style.hpp -- programs in the style of ThreadSynchronizer's users
#pragma once

#include <string>
#include <vector>

namespace original_style {

// Each returns the lines it logged, in order.
std::vector<std::string> binary_oscillator(int rounds);
std::vector<std::string> cycle_scheduler(int num_threads, int num_cycles);
std::vector<std::string> parallel_scheduler(int num_threads, int num_iterations);

}  // namespace original_style
