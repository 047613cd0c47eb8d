// SPDX-License-Identifier: MIT
// The calling thread's number, and the begin and end of programs, which tell us nothing.
#include "ident.hpp"

using namespace lockstep::openmp;
using namespace lockstep::openmp::llvm;

OPENMP_API std::int32_t __kmpc_global_thread_num(ident*) { return thread_id(); }
OPENMP_API void __kmpc_begin(ident*, std::int32_t) {}
OPENMP_API void __kmpc_end(ident*) {}
OPENMP_API std::int32_t __kmpc_ok_to_fork(ident*) { return 1; }
