// SPDX-License-Identifier: MIT
#include "tool/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tool/event_parser.hpp"
#include "tool/text.hpp"
#include "tool/trace_order.hpp"

namespace tool {
namespace {

constexpr std::string_view record_one =
    "Record one with LOCKSTEP_TRACE=FILE in the environment of a program that uses lockstep.";
constexpr std::string_view not_ours =
    "The file was damaged, or something other than lockstep wrote it. Record the trace again.";

bad_trace fault(std::string_view name, std::string_view cause, std::string_view remedy) {
  return bad_trace(fmt::format("{}: {} {}", name, cause, remedy));
}

/// What is wrong with a file that the parser has given up.
bad_trace not_json(std::istream& from, std::string_view name, const event_parser& parser) {
  const bool is_cut = from.eof();
  from.clear();
  from.seekg(0);
  char first = 0;
  if (!(from >> first)) {
    return fault(name, "is empty.",
                 "Did the program that should write it end normally? Run it again.");
  }
  if (first != '{' && first != '[') return fault(name, "is not JSON.", record_one);
  if (is_cut) {
    return fault(name, fmt::format("ends in the middle, after {} bytes.", parser.failed_at() - 1),
                 "The program did not end normally, the disk is full, or the file was not copied "
                 "whole. Record it "
                 "again.");
  }
  const std::string& why = parser.failure();  // "... at line 2, column 1: ..."
  const std::size_t line = std::min(why.find("line "), why.size());
  return fault(name,
               fmt::format("is not JSON: {}, byte {} cannot be read.",
                           why.substr(line, why.find(',', line) - line), parser.failed_at()),
               not_ours);
}

kind kind_of(std::string_view category) {
  if (category == "region") return kind::region;
  if (category == "part") return kind::part;
  if (category == "node") return kind::node;
  if (category == "user") return kind::user;
  if (category == "construct") return kind::construct;
  if (category == "wait") return kind::wait;
  return kind::other;
}

/// Gathers events in any order, and puts them in order at the end.
class builder {
 public:
  builder(std::string_view name, std::uint64_t most_memory)
      : name_(name), most_memory_(most_memory) {}

  void take(const event& one);
  trace finish(const event& other_data);

 private:
  struct arrow_end {
    std::string id;
    nanoseconds when;
    std::uint32_t thread;
  };

  bad_trace event_fault(const event& one, std::string_view what) const {
    return fault(name_, fmt::format("event {} ('{}') {}", count_, one.name, what), not_ours);
  }
  nanoseconds to_nanoseconds(const event& one, std::optional<double> microseconds,
                             std::string_view key) const;
  thread& thread_of(const event& one) { return result_.threads[thread_index(one)]; }
  std::uint32_t thread_index(const event& one);
  std::uint32_t look_of(const event& one);
  void name_region(const event& one, slice& made);
  void take_slice(const event& one);
  void take_counter(const event& one);
  void take_name(const event& one);
  void take_loss(const event& one);
  void join_arrows();
  void take_memory(std::size_t bytes);

  std::string name_;
  std::uint64_t most_memory_, memory_ = 0;
  trace result_;
  std::size_t count_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;
  std::unordered_map<std::string, std::uint32_t> looks_;
  std::map<std::string, std::uint32_t> teams_;
  std::map<std::string, std::size_t> counters_;
  std::vector<arrow_end> starts_, ends_;
  std::string look_key_;
};

nanoseconds builder::to_nanoseconds(const event& one, std::optional<double> microseconds,
                                    std::string_view key) const {
  if (!microseconds) throw event_fault(one, fmt::format("has no number \"{}\".", key));
  // A double counts nanoseconds exactly up to 2^53 ns, or 104 days.
  if (!(std::abs(*microseconds) <= 9e12))
    throw event_fault(one, fmt::format("has a \"{}\" out of range.", key));
  return std::llround(*microseconds * 1000);
}

std::uint32_t builder::thread_index(const event& one) {
  const auto next = static_cast<std::uint32_t>(result_.threads.size());
  const auto [found, is_new] = threads_.try_emplace({one.process, one.thread}, next);
  if (is_new) {
    thread& made = result_.threads.emplace_back();
    made.process = one.process;
    made.number = made.order = one.thread;
  }
  return found->second;
}

/// The place in the source, without directories.
std::string where(const event& one) {
  const event_value* const place = one.argument("where");
  return place ? place->text.substr(place->text.find_last_of("/\\") + 1) : "";
}

std::string quoted(const std::string& text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', false,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

/// How a number among the arguments is stored: whole, or in thousandths.
std::optional<std::uint64_t> count_in(const event_value& value) {
  const double thousandths = value.number.value_or(-1) * 1000;
  if (!(thousandths >= 0 && thousandths < 9e15)) return std::nullopt;
  return value.whole ? *value.whole : static_cast<std::uint64_t>(std::llround(thousandths));
}

/// Counts the memory that a record takes. The lists that it is appended to have room for twice as much at most.
void builder::take_memory(std::size_t bytes) {
  memory_ += 2 * bytes;
  if (memory_ <= most_memory_) return;
  throw fault(name_,
              fmt::format("is too large: what its first {} events say takes {} MB of memory, which "
                          "is the limit.",
                          count_, most_memory_ >> 20),
              "Record less: LOCKSTEP_TRACE=FILE,records=10k keeps the last 10000 records of each "
              "thread; start_trace() and stop_trace() record a part of the program.");
}

void append_part(std::string& key, std::string_view part) {
  key.append(part).append(1, '\0').append(std::to_string(part.size())).append(1, '\0');
}

/// The arguments as JSON, with 1 or 0.001 in place of numbers.
std::string arguments_of(const event& one) {
  std::string text;
  for (std::size_t i = 0; i < one.used_arguments; ++i) {
    const auto& [key, value] = one.arguments[i];
    text += (i == 0 ? "[[" : ",[") + quoted(key) + ",";
    text += !count_in(value) ? quoted(value.text) : value.whole ? "1" : "0.001";
    text += "]";
  }
  return text.empty() ? "[]" : text + "]";
}

/// Stores the numbers among the arguments separately: they differ from record to record, the rest seldom does.
std::uint32_t builder::look_of(const event& one) {
  std::uint32_t numbers = 0;
  look_key_.clear();
  append_part(look_key_, one.name);
  append_part(look_key_, one.category);
  for (std::size_t i = 0; i < one.used_arguments; ++i) {
    const auto& [key, value] = one.arguments[i];
    append_part(look_key_, key);
    const std::optional<std::uint64_t> number = count_in(value);
    if (number) {
      result_.numbers.push_back(*number);
      ++numbers;
      look_key_ += value.whole ? '1' : '2';
    } else {
      look_key_ += '0';
      append_part(look_key_, value.text);
    }
  }
  take_memory(numbers * sizeof(std::uint64_t));
  const auto [found, is_new] =
      looks_.try_emplace(look_key_, static_cast<std::uint32_t>(result_.looks.size()));
  if (is_new) {
    result_.looks.push_back(
        {one.name, one.category, arguments_of(one), where(one), numbers, kind_of(one.category)});
    take_memory(sizeof(look) + 2 * look_key_.size());
  }
  return found->second;
}

/// Notes the team and the number of the region, if the record has them.
void builder::name_region(const event& one, slice& made) {
  const event_value* const team = one.argument("team");
  const event_value* const region = one.argument("region");
  if (!team || !region || !region->whole) return;
  made.team =
      teams_.try_emplace(team->text, static_cast<std::uint32_t>(teams_.size() + 1)).first->second;
  made.region = static_cast<std::uint32_t>(*region->whole);
}

void builder::take_slice(const event& one) {
  slice made;
  made.begin = to_nanoseconds(one, one.ts, "ts");
  made.length = to_nanoseconds(one, one.duration, "dur");
  if (made.length < 0) {
    throw event_fault(one, fmt::format("has the negative duration {} us.", *one.duration));
  }
  made.first_number = static_cast<std::uint32_t>(result_.numbers.size());
  made.look = look_of(one);
  const kind what = result_.looks[made.look].of;
  if (what == kind::region || what == kind::part) name_region(one, made);
  const event_value* const waited = one.argument("waited");
  if (what == kind::construct && waited) {
    made.waited =
        std::clamp<nanoseconds>(to_nanoseconds(one, waited->number, "waited"), 0, made.length);
  }
  thread& on = thread_of(one);
  if (on.team == 0 && made.team != 0) {
    const event_value* const rank = one.argument("rank");  // the caller of a region is member 0
    on.team = made.team;
    on.rank = rank ? static_cast<std::uint32_t>(rank->whole.value_or(0)) : 0;
  }
  on.slices.push_back(made);
}

void builder::take_counter(const event& one) {
  const nanoseconds when = to_nanoseconds(one, one.ts, "ts");
  for (std::size_t i = 0; i < one.used_arguments; ++i) {
    const auto& [key, value] = one.arguments[i];
    if (!value.number) continue;
    const std::string name = one.used_arguments == 1 ? one.name : one.name + " " + key;
    const auto [found, is_new] = counters_.try_emplace(name, result_.counters.size());
    if (is_new) result_.counters.push_back({name, {}});
    result_.counters[found->second].values.push_back({when, *value.number});
  }
}

void builder::take_name(const event& one) {
  const event_value* const name = one.argument("name");
  const event_value* const order = one.argument("sort_index");
  if (one.name == "thread_name" && name) thread_of(one).name = name->text;
  if (one.name == "thread_sort_index" && order && order->number) {
    constexpr double most = 9e18;  // of what an integer holds
    thread_of(one).order = static_cast<std::int64_t>(std::clamp(*order->number, -most, most));
  }
  if (one.name == "thread_lost") take_loss(one);
}

/// Notes that records of a thread were lost, and from when on all are there.
void builder::take_loss(const event& one) {
  const event_value* const records = one.argument("records");
  const event_value* const from = one.argument("whole_from");
  if (!records || !from) return;
  thread& whose = thread_of(one);
  whose.lost = records->whole.value_or(0);
  if (whose.lost != 0) whose.whole_from = to_nanoseconds(one, from->number, "whole_from");
}

void builder::take(const event& one) {
  ++count_;
  take_memory(sizeof(slice));
  const char phase = one.phase.size() == 1 ? one.phase[0] : '\0';
  switch (phase) {
    case 'X': take_slice(one); break;
    case 'i':
    case 'I': {
      const auto first = static_cast<std::uint32_t>(result_.numbers.size());
      const nanoseconds when = to_nanoseconds(one, one.ts, "ts");
      const std::uint32_t look = look_of(one);
      thread_of(one).marks.push_back({when, look, first});
      break;
    }
    case 'C': take_counter(one); break;
    case 's':
      starts_.push_back({one.id, to_nanoseconds(one, one.ts, "ts"), thread_index(one)});
      break;
    case 'f':
      ends_.push_back({one.id, to_nanoseconds(one, one.ts, "ts"), thread_index(one)});
      break;
    case 'M': take_name(one); break;
    default: ++result_.ignored;
  }
}

void builder::join_arrows() {
  const auto by_id = [](const arrow_end& a, const arrow_end& b) { return a.id < b.id; };
  std::stable_sort(starts_.begin(), starts_.end(), by_id);
  for (const arrow_end& end : ends_) {
    const auto start = std::lower_bound(starts_.begin(), starts_.end(), end, by_id);
    if (start == starts_.end() || start->id != end.id) continue;
    result_.arrows.push_back({start->thread, end.thread, start->when, end.when});
  }
  std::sort(result_.arrows.begin(), result_.arrows.end(), [](const arrow& a, const arrow& b) {
    return std::tie(a.came, a.left) < std::tie(b.came, b.left);
  });
}

trace builder::finish(const event& other_data) {
  join_arrows();
  if (const event_value* const duration = other_data.argument("duration_us")) {
    result_.end = to_nanoseconds(other_data, duration->number, "duration_us");
  }
  put_in_order(result_);
  if (result_.slices() == 0) {
    throw fault(name_,
                fmt::format("has {}, and no slice of time among them.", counted(count_, "event")),
                "Nothing was recorded: let a team run regions or loops while the trace is on.");
  }
  if (const event_value* const version = other_data.argument("lockstep"))
    result_.version = version->text;
  if (const event_value* const lost = other_data.argument("dropped"))
    result_.dropped = lost->whole.value_or(0);
  return std::move(result_);
}

}  // namespace

trace read_trace(std::istream& from, std::string_view name, std::uint64_t most_memory) {
  builder made(name, most_memory);
  event_parser parser([&made](const event& one) { made.take(one); });
  try {
    if (!nlohmann::ordered_json::sax_parse(from, &parser)) throw not_json(from, name, parser);
  } catch (const std::ios_base::failure&) {
    throw bad_trace(fmt::format("{}: cannot be read.", name));
  }
  if (!parser.has_events()) {
    throw fault(name, "is JSON, but not a trace: it has no \"traceEvents\".", record_one);
  }
  return made.finish(parser.other_data());
}

trace read_trace(const std::string& text, std::string_view name, std::uint64_t most_memory) {
  std::istringstream from(text);
  return read_trace(from, name, most_memory);
}

}  // namespace tool
