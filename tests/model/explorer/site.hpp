// SPDX-License-Identifier: MIT
// tests/model/explorer/site.hpp -- where in the sources an operation is, and whether it is to be broken there
//
// A mutant of the shipped code needs no other source: the explorer weakens one access at its line while
// it runs. LOCKSTEP_MODEL_MUTATION names it: "include/lockstep/event.hpp:51:order=relaxed" weakens the order of the
// access that begins in that line (of a compare-exchange: on success; "failure=relaxed": on failure), and
// "src/wait/x.cpp:51:drop" leaves the fence, wake or notification out. scripts/run/mutate_orders.py lists them.
#pragma once

#include <atomic>
#include <string>

namespace lockstep::model {

struct site {
  const char* file;
  int line;
};

enum class part { order, failure };

/// The order to use at that place: the given one, unless it is the one to be weakened.
std::memory_order mutated(std::memory_order given, site where, part of = part::order);
/// True if the operation at that place is to be left out.
bool is_dropped(site where);

const char* name_of(std::memory_order order) noexcept;
bool acquires(std::memory_order order) noexcept;
bool releases(std::memory_order order) noexcept;

/// "event.hpp:51"; empty for no place.
std::string to_text(site where);

}  // namespace lockstep::model
