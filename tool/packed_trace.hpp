// SPDX-License-Identifier: MIT
// tool/packed_trace.hpp -- a trace in few bytes, for the page that shows it (page/model.js reads it)
//
// `description` is JSON: names, counts, figures. A section is a row of whole numbers of 7 bits a byte, the lowest
// first; the highest bit says that another byte follows. Times are differences from the end of the record before.
//   slices    for each row of `description.rows`: gap, length, look
//   activity  for each thread, when it computed, then when it was serial: gap, length
//   marks     for each thread: gap, look
//   arrows    gap of `came`, flight time (zigzag: 2n, or -2n - 1), from, to
//   runs      gap of begin, length, look, first start - begin, skew, members, parallel, lost
//   numbers   those of the slices in the order of `slices`, then those of the marks
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tool/figures.hpp"
#include "tool/trace.hpp"

namespace tool {

struct packed_trace {
  nlohmann::ordered_json description;
  std::vector<std::pair<std::string, std::string>> sections;  // name, bytes
};

[[nodiscard]] packed_trace pack(const trace& of, const figures& in_numbers);

void append_number(std::string& bytes, std::uint64_t number);

[[nodiscard]] std::string to_base64(const std::string& bytes);

}  // namespace tool
