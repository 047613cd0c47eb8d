// SPDX-License-Identifier: MIT
#include "support/verdict.hpp"

#include <fmt/format.h>

#include "support/json.hpp"
#include "support/text_table.hpp"

namespace bench {

std::string to_text(const std::vector<verdict>& verdicts) {
  std::string text;
  for (const verdict& one : verdicts) {
    const char* const word = one.met() ? "met" : one.figure ? "MISSED" : "UNCLEAR";
    const std::string figure =
        one.figure ? four_digits(*one.figure) + " " + one.unit : one.why_unclear;
    text += fmt::format("{:<8}{}: {} (target {} {})\n", word, one.what, figure,
                        one.is_upper_limit ? "<=" : ">=", one.target);
  }
  return text;
}

nlohmann::ordered_json to_json(const std::vector<verdict>& verdicts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const verdict& one : verdicts) {
    json.push_back({{"what", one.what},
                    {"unit", one.unit},
                    {"figure", to_json(one.figure)},
                    {"target", one.target},
                    {"comparison", one.is_upper_limit ? "at most" : "at least"},
                    {"met", one.met()}});
  }
  return json;
}

}  // namespace bench
