// SPDX-License-Identifier: MIT
// bench/support/machine.hpp -- on what and with what a program was measured
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bench {

/// CPU model, usable CPUs, kernel, compiler, flags, build type, library version. No names of hosts or
/// users: results are published.
[[nodiscard]] nlohmann::ordered_json describe_machine();

/// The same on one line.
[[nodiscard]] std::string on_one_line(const nlohmann::ordered_json& machine);

}  // namespace bench
