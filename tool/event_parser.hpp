// SPDX-License-Identifier: MIT
// tool/event_parser.hpp -- goes through the JSON of a trace file and hands over one event after the other
//
// A file of 10^6 records has 150 MB. So the parser makes no tree of it. It calls one of the functions below for each
// token.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// A value of an event: a text or a number. A text may also stand for a number ("id": "0x1").
struct event_value {
  std::string text;
  std::optional<double> number;
  std::optional<std::uint64_t> whole;
};

struct event {
  std::string phase, name, category, id;
  std::optional<double> ts, duration;  // microseconds
  std::int64_t process = 0, thread = 0;
  std::vector<std::pair<std::string, event_value>> arguments;
  std::size_t used_arguments =
      0;  // the vector keeps the strings of earlier events, and their memory

  void clear();
  event_value& add_argument(const std::string& key);
  [[nodiscard]] const event_value* argument(std::string_view key) const;
};

/// What nlohmann::ordered_json::sax_parse() calls.
class event_parser {
 public:
  using json = nlohmann::ordered_json;

  explicit event_parser(std::function<void(const event&)> on_event)
      : on_event_(std::move(on_event)) {}

  [[nodiscard]] bool has_events() const { return has_events_; }
  [[nodiscard]] const event& other_data() const { return other_data_; }
  [[nodiscard]] std::size_t failed_at() const { return failed_at_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

  bool null() { return true; }
  bool boolean(bool value);
  bool number_integer(std::int64_t value);
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, const std::string& text);
  bool string(std::string& value);
  bool binary(json::binary_t&) { return true; }
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool key(std::string& name);
  bool parse_error(std::size_t position, const std::string& token, const json::exception& why);

 private:
  enum class place { outside, events, event, arguments, other_data };

  void take(const event_value& value);

  std::function<void(const event&)> on_event_;
  event event_;
  event other_data_;  // its arguments
  std::string key_;
  std::string top_key_;
  unsigned depth_ = 0;
  place place_ = place::outside;
  bool has_events_ = false;
  std::size_t failed_at_ = 0;
  std::string failure_;
};

}  // namespace tool
