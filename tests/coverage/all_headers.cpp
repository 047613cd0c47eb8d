// SPDX-License-Identifier: MIT
// tests/coverage/all_headers.cpp -- compiled with -fkeep-inline-functions for the coverage report
//
// A function that no test calls is not compiled, and gcov would not know that it is missing. Here every
// function that is no template is compiled and none is called. Members of class templates that no test
// uses stay unknown.
#include <thread_synchronizer.h>
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

int main() { return 0; }
