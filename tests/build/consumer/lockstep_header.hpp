// SPDX-License-Identifier: MIT
// The library as one header or as many.
#pragma once

#ifdef CONSUMER_SINGLE_HEADER
#include <lockstep.hpp>
#else
#include <lockstep/lockstep.hpp>
#endif
