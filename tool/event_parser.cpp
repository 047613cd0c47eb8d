// SPDX-License-Identifier: MIT
#include "tool/event_parser.hpp"

#include <cmath>

namespace tool {
namespace {

// How deep these lie in the file: {"traceEvents": [{"args": {...}}], "otherData": {...}}
constexpr unsigned top = 1, list = 2, event_object = 3, arguments_object = 4;

std::int64_t to_whole(const event_value& value) {
  return value.number && std::abs(*value.number) < 9e15 ? static_cast<std::int64_t>(*value.number)
                                                        : 0;
}

}  // namespace

void event::clear() {
  phase.clear(), name.clear(), category.clear(), id.clear();
  ts.reset(), duration.reset();
  process = thread = 0;
  used_arguments = 0;
}

event_value& event::add_argument(const std::string& key) {
  if (used_arguments == arguments.size()) arguments.emplace_back();
  auto& [name_of, value] = arguments[used_arguments++];
  name_of = key;
  value.text.clear(), value.number.reset(), value.whole.reset();
  return value;
}

const event_value* event::argument(std::string_view key) const {
  for (std::size_t i = 0; i < used_arguments; ++i) {
    if (arguments[i].first == key) return &arguments[i].second;
  }
  return nullptr;
}

void event_parser::take(const event_value& value) {
  if (place_ == place::arguments && depth_ == arguments_object) {
    event_.add_argument(key_) = value;
  } else if (place_ == place::other_data && depth_ == list) {
    other_data_.add_argument(key_) = value;
  } else if (place_ == place::event && depth_ == event_object) {
    if (key_ == "ph") event_.phase = value.text;
    if (key_ == "name") event_.name = value.text;
    if (key_ == "cat") event_.category = value.text;
    if (key_ == "id") event_.id = value.text;
    if (key_ == "ts") event_.ts = value.number;
    if (key_ == "dur") event_.duration = value.number;
    if (key_ == "pid") event_.process = to_whole(value);
    if (key_ == "tid") event_.thread = to_whole(value);
  }
}

bool event_parser::boolean(bool value) {
  take({value ? "true" : "false", std::nullopt, std::nullopt});
  return true;
}

bool event_parser::number_integer(std::int64_t value) {
  take({std::to_string(value), static_cast<double>(value), std::nullopt});
  return true;
}

bool event_parser::number_unsigned(std::uint64_t value) {
  take({std::to_string(value), static_cast<double>(value), value});
  return true;
}

bool event_parser::number_float(double value, const std::string& text) {
  take({text, value, std::nullopt});
  return true;
}

bool event_parser::string(std::string& value) {
  take({std::move(value), std::nullopt, std::nullopt});
  return true;
}

bool event_parser::key(std::string& name) {
  if (depth_ == top) top_key_ = name;
  key_ = std::move(name);
  return true;
}

bool event_parser::start_object(std::size_t) {
  ++depth_;
  if (place_ == place::events && depth_ == event_object) {
    place_ = place::event;
    event_.clear();
  } else if (place_ == place::event && depth_ == arguments_object && key_ == "args") {
    place_ = place::arguments;
  } else if (depth_ == list && top_key_ == "otherData") {
    place_ = place::other_data;
  }
  return true;
}

bool event_parser::end_object() {
  --depth_;
  if (place_ == place::arguments && depth_ == event_object) place_ = place::event;
  if (place_ == place::event && depth_ == list) {
    place_ = place::events;
    on_event_(event_);
  }
  if (place_ == place::other_data && depth_ == top) place_ = place::outside;
  return true;
}

bool event_parser::start_array(std::size_t) {
  ++depth_;
  if (place_ == place::outside && depth_ == list && top_key_ == "traceEvents") {
    place_ = place::events;
    has_events_ = true;
  }
  return true;
}

bool event_parser::end_array() {
  --depth_;
  if (place_ == place::events && depth_ == top) place_ = place::outside;
  return true;
}

bool event_parser::parse_error(std::size_t position, const std::string&,
                               const json::exception& why) {
  failed_at_ = position;
  failure_ = why.what();
  return false;
}

}  // namespace tool
