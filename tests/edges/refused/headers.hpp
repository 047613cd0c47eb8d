// SPDX-License-Identifier: MIT
// tests/edges/refused/headers.hpp -- what refused.cpp includes, to be precompiled
#pragma once

#include <lockstep/mailbox.hpp>
#include <lockstep/per_member.hpp>
#include <lockstep/reduction.hpp>
#include <lockstep/team.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
