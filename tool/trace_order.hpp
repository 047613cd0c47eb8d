// SPDX-License-Identifier: MIT
// tool/trace_order.hpp -- makes a trace what trace.hpp says, from records in any order
#pragma once

#include "tool/trace.hpp"

namespace tool {

/// Makes time begin at 0, sorts and nests what each thread has, removes threads without records, and sorts the rest.
void put_in_order(trace& of);

}  // namespace tool
