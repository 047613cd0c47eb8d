// SPDX-License-Identifier: MIT
// bench/figures/cases.hpp -- what is measured, by lockstep and by its peers
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace figures {

struct measured_case {
  std::string work;             ///< what is done: rows of one work are compared with each other
  std::string peer;             ///< the library that runs the case
  std::string environment;      ///< variables set for this case's process, "NAME=value"
  std::function<double()> run;  ///< one sample, in nanoseconds

  std::string name() const { return work + " / " + peer; }
};

/// Every case this build has.
std::vector<measured_case> all_cases();

/// The part of all_cases() that needs OpenMP; empty without.
std::vector<measured_case> openmp_cases();

}  // namespace figures
