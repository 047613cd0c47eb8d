// SPDX-License-Identifier: MIT
// src/trace/ledger_hook_bodies.hpp -- what hooks tell the ledger of members, regions and teams (layer: trace)
//
// What is left on is to be fast: in most meetings the ledger only counts, and it does so when the member was let go.
// What is stored before a member arrives delays the others: a few stores cost a barrier 50 ns, in the shadow of the next
// work they cost nothing that could be measured. Of the ways below only those in meetings and regions that the ledger
// has chosen, and where somebody else watches, are cold.
//
//   KEEP-1  A board is made when the ledger is first switched on. It lives as long as the team_view: who has seen it
//           may use it until its team ends.
//   KEEP-2  observer::accounts is on as long as a ledger of the process is.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  made.load         acquire  2      the board is made before its address is seen
//   2  made.store        release  1      as 1
//   3  kept.load         acquire  4      as 1: the board, where one is to be kept
//   4  kept.store        release  3      as 1
//   5  kept.store        relaxed  -      null: nothing to see there
//
// Cost   off: none but the look at observers().
#ifndef LOCKSTEP_SRC_TRACE_LEDGER_HOOK_BODIES_HPP
#define LOCKSTEP_SRC_TRACE_LEDGER_HOOK_BODIES_HPP

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include <lockstep/ledger.hpp>
#include "../observe/hooks.hpp"
#include "../platform/user_files.hpp"
#include "hook_bodies.hpp"
#include "ledger_board.hpp"
#include "ledger_hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// To the file that is wanted, or to stderr; says so if that cannot be.
void print_ledger(const ledger& of, const ledger_output& to);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_LEDGER_HOOK_BODIES_HPP
