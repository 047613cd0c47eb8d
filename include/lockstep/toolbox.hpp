// SPDX-License-Identifier: MIT
// lockstep/toolbox.hpp -- what is built on the library and is no part of it: other ways to wait (layer: toolbox)
//
//   fan_out, fan_in, fan_in_out  some threads notify, others wait
//   eventual, future_set         one value, or n contributions, for any number of readers
//   mailbox                      calls queued to a thread
//   joinable_thread              a thread whose join waits by policy
#ifndef LOCKSTEP_TOOLBOX_HPP
#define LOCKSTEP_TOOLBOX_HPP

#include <lockstep/eventual.hpp>
#include <lockstep/fan.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/mailbox.hpp>
// Needs std::thread.
#if LOCKSTEP_HAS_STANDARD_THREADS
#include <lockstep/thread.hpp>
#endif

#endif  // LOCKSTEP_TOOLBOX_HPP
