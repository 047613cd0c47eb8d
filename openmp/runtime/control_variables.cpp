// SPDX-License-Identifier: MIT
#include "control_variables.hpp"

namespace lockstep::openmp {

// The first priority that a library may use: programs and other libraries call us from their constructors.
__attribute__((init_priority(101))) settings_storage settings_of_process;

}  // namespace lockstep::openmp
