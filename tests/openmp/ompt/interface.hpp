// SPDX-License-Identifier: MIT
// The binary interface to tools as the specification has it, as far as the tests need it.
#pragma once

#include <cstddef>
#include <cstdint>

union data {
  std::uint64_t value;
  void* pointer;
};
struct frame {
  data exit, enter;
  int exit_flags, enter_flags;
};
struct dependence {
  data variable;
  int type;
};

using lookup_t = void (*(const char*))();
using get_task_info_t = int(int, int*, data**, frame**, data**, int*);
using get_parallel_info_t = int(int, data**, int*);
using get_thread_data_t = data*();
using get_state_t = int(std::uint64_t*);
using get_unique_id_t = std::uint64_t();
using set_callback_t = int(int, void (*)());

struct start_result {
  int (*initialize)(lookup_t*, int, data*);
  void (*finalize)(data*);
  data own;
};
