// SPDX-License-Identifier: MIT
// lockstep/lockstep.hpp -- everything (the layers from bottom to top)
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#include "auto_reset_event.hpp"
#include "barrier.hpp"
#include "build_info.hpp"
#include "condition_variable.hpp"
#include "deadline.hpp"
#include "detail/platform/config.hpp"
#include "detail/platform/this_thread.hpp"
#include "detail/platform/usable_cpus.hpp"
#include "event.hpp"
#include "eventual.hpp"
#include "external_team.hpp"
#include "fan_in.hpp"
#include "fan_out.hpp"
#include "future_set.hpp"
#include "latch.hpp"
#include "mailbox.hpp"
#include "manual_reset_event.hpp"
#include "mutex.hpp"
#include "per_member.hpp"
#include "recursive_mutex.hpp"
#include "rendezvous.hpp"
#include "semaphore.hpp"
#include "shared_mutex.hpp"
#include "split_barrier.hpp"
#include "team.hpp"
#include "thread.hpp"
#include "tree_barrier.hpp"
#include "wait_policy.hpp"

#endif  // LOCKSTEP_LOCKSTEP_HPP
