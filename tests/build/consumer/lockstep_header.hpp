// SPDX-License-Identifier: MIT
// The library as one header or as many, or what is quick to compile of it.
#pragma once

#if defined(CONSUMER_SINGLE_HEADER)
#include <lockstep.hpp>
#elif defined(CONSUMER_LOCKS_ONLY)
#include <lockstep/event.hpp>
#else
#include <lockstep/lockstep.hpp>
#endif
