// SPDX-License-Identifier: MIT
// lockstep/lockstep.hpp -- all public headers but those of lockstep/toolbox.hpp and lockstep/mpi.hpp
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#include <lockstep/barrier.hpp>
#include <lockstep/buffer.hpp>
#include <lockstep/build_info.hpp>
#include <lockstep/call_site.hpp>
#include <lockstep/event.hpp>
#include <lockstep/external_team.hpp>
#include <lockstep/first_touch.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/ledger.hpp>
#include <lockstep/member.hpp>
#include <lockstep/mutex.hpp>
#include <lockstep/named_object.hpp>
#include <lockstep/padded.hpp>
#include <lockstep/per_member.hpp>
#include <lockstep/plan.hpp>
#include <lockstep/ranked_barrier.hpp>
#include <lockstep/reduction.hpp>
#include <lockstep/region.hpp>
#include <lockstep/region_stopped.hpp>
#include <lockstep/schedule.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/shared_mutex.hpp>
#include <lockstep/stop_when.hpp>
#include <lockstep/sub_team.hpp>
#include <lockstep/team.hpp>
#include <lockstep/team_options.hpp>
#include <lockstep/topology.hpp>
#include <lockstep/trace.hpp>
#include <lockstep/wait_policy.hpp>
#include <lockstep/watchdog.hpp>
#include <lockstep/weighted_schedule.hpp>
// Needs std::cv_status.
#if LOCKSTEP_HAS_STANDARD_THREADS
#include <lockstep/condition_variable.hpp>
#endif

#endif  // LOCKSTEP_LOCKSTEP_HPP
