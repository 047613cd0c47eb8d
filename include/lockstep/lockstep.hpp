// SPDX-License-Identifier: MIT
// lockstep/lockstep.hpp -- everything (the layers from bottom to top)
#pragma once

#include "platform/config.hpp"
#include "platform/this_thread.hpp"
#include "platform/usable_cpus.hpp"
#include "sync/barrier.hpp"
#include "sync/event.hpp"
#include "sync/fan_in.hpp"
#include "sync/fan_out.hpp"
#include "sync/rendezvous.hpp"
#include "team/team.hpp"
#include "wait/deadline.hpp"
#include "wait/wait_policy.hpp"
