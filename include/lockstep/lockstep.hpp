// SPDX-License-Identifier: MIT
// lockstep/lockstep.hpp -- everything (the layers from bottom to top)
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#include "platform/config.hpp"
#include "platform/this_thread.hpp"
#include "platform/usable_cpus.hpp"
#include "sync/auto_reset_event.hpp"
#include "sync/barrier.hpp"
#include "sync/condition_variable.hpp"
#include "sync/event.hpp"
#include "sync/eventual.hpp"
#include "sync/fan_in.hpp"
#include "sync/fan_out.hpp"
#include "sync/future_set.hpp"
#include "sync/latch.hpp"
#include "sync/mailbox.hpp"
#include "sync/manual_reset_event.hpp"
#include "sync/mutex.hpp"
#include "sync/recursive_mutex.hpp"
#include "sync/rendezvous.hpp"
#include "sync/semaphore.hpp"
#include "sync/shared_mutex.hpp"
#include "sync/split_barrier.hpp"
#include "sync/tree_barrier.hpp"
#include "team/external_team.hpp"
#include "team/joinable_thread.hpp"
#include "team/team.hpp"
#include "wait/build_info.hpp"
#include "wait/deadline.hpp"
#include "wait/wait_policy.hpp"

#endif  // LOCKSTEP_LOCKSTEP_HPP
