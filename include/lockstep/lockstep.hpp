// SPDX-License-Identifier: MIT
// lockstep/lockstep.hpp -- all public headers (tests/build/public_names.py checks that)
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#include "barrier.hpp"
#include "build_info.hpp"
#include "call_site.hpp"
#include "event.hpp"
#include "eventual.hpp"
#include "external_team.hpp"
#include "fan.hpp"
#include "first_touch.hpp"
#include "future_set.hpp"
#include "graph.hpp"
#include "latch.hpp"
#include "ledger.hpp"
#include "mailbox.hpp"
#include "member.hpp"
#include "mutex.hpp"
#include "named_object.hpp"
#include "padded.hpp"
#include "per_member.hpp"
#include "plan.hpp"
#include "ranked_barrier.hpp"
#include "reduction.hpp"
#include "region.hpp"
#include "region_stopped.hpp"
#include "schedule.hpp"
#include "semaphore.hpp"
#include "shared_mutex.hpp"
#include "stop_when.hpp"
#include "sub_team.hpp"
#include "team.hpp"
#include "team_options.hpp"
#include "topology.hpp"
#include "trace.hpp"
#include "wait_policy.hpp"
#include "watchdog.hpp"
#include "weighted_schedule.hpp"
// Those that stand for classes of the C++ library, where that has them.
#if LOCKSTEP_HAS_STANDARD_THREADS
#include "condition_variable.hpp"
#include "thread.hpp"
#endif

#endif  // LOCKSTEP_LOCKSTEP_HPP
