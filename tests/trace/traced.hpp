// SPDX-License-Identifier: MIT
// tests/trace/traced.hpp -- reads a trace back, and checks what holds for every one
#pragma once

#include <lockstep/trace.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/waited.hpp"

namespace lockstep::test {

/// A file that is gone with this object.
class scratch_file {
 public:
  explicit scratch_file(const std::string& name = "trace")
      : path_(::testing::TempDir() + "lockstep_" + name + "_" + std::to_string(getpid()) +
              ".json") {}
  ~scratch_file() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }
  nlohmann::json read() const {
    std::ifstream from(path_);
    return nlohmann::json::parse(from);
  }

 private:
  std::string path_;
};

inline std::int64_t nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// An event of the file, for comparison.
struct seen_event {
  std::string name, category, phase;
  std::int64_t begin, end;
  int track;
  nlohmann::json all;

  const nlohmann::json& argument(const char* of) const { return all.at("args").at(of); }
};

class seen_trace {
 public:
  explicit seen_trace(nlohmann::json file) : file_(std::move(file)) {
    for (const nlohmann::json& each : file_.at("traceEvents")) {
      seen_event made = {each.at("name"),
                         each.value("cat", ""),
                         each.at("ph"),
                         0,
                         0,
                         each.at("tid").get<int>(),
                         each};
      if (made.phase == "M") {
        if (made.name == "thread_name") names_[made.track] = each.at("args").at("name");
        continue;
      }
      made.begin = nanoseconds(each.at("ts"));
      made.end = made.begin + (each.contains("dur") ? nanoseconds(each.at("dur")) : 0);
      events_.push_back(made);
    }
    check();
  }

  const nlohmann::json& file() const { return file_; }
  const std::vector<seen_event>& events() const { return events_; }
  const std::map<int, std::string>& names() const { return names_; }
  std::vector<seen_event> of(const std::string& category) const {
    std::vector<seen_event> found;
    for (const seen_event& each : events_) {
      if (each.category == category) found.push_back(each);
    }
    return found;
  }
  std::vector<seen_event> named(const std::string& name) const {
    std::vector<seen_event> found;
    for (const seen_event& each : events_) {
      if (each.name == name) found.push_back(each);
    }
    return found;
  }
  /// The two ends of each arrow of that name.
  std::vector<std::pair<seen_event, seen_event>> arrows(const std::string& name) const {
    std::map<std::int64_t, seen_event> begun;
    std::vector<std::pair<seen_event, seen_event>> found;
    for (const seen_event& each : of("arrow")) {
      if (each.name != name) continue;
      const std::int64_t id = each.all.at("id");
      if (each.phase == "s") {
        begun.emplace(id, each);
      } else {
        found.emplace_back(begun.at(id), each);
      }
    }
    return found;
  }
  /// The tracks of that name.
  std::set<int> tracks(const std::string& name) const {
    std::set<int> found;
    for (const auto& [track, its_name] : names_) {
      if (its_name == name) found.insert(track);
    }
    return found;
  }

 private:
  void check() const {
    EXPECT_EQ(file_.at("displayTimeUnit"), "ns");
    EXPECT_TRUE(file_.at("otherData").at("lockstep").is_string());
    EXPECT_TRUE(file_.at("otherData").at("dropped").is_number_unsigned());
    static const std::set<std::string> phases = {"X", "i", "C", "s", "f"};
    std::map<int, std::vector<std::int64_t>> open;
    std::map<int, std::int64_t> last;
    std::map<std::int64_t, std::int64_t> sent;
    std::set<std::int64_t> came;
    for (const seen_event& each : events_) {
      ASSERT_TRUE(phases.count(each.phase)) << each.all;
      ASSERT_TRUE(names_.count(each.track)) << each.all;
      ASSERT_GE(each.begin, 0) << each.all;
      if (each.phase == "s") {
        ASSERT_TRUE(sent.emplace(each.all.at("id"), each.begin).second) << "id used twice";
        continue;
      }
      if (each.phase == "f") {
        const std::int64_t id = each.all.at("id");
        ASSERT_TRUE(sent.count(id)) << each.all;
        ASSERT_TRUE(came.insert(id).second) << each.all;
        ASSERT_EQ(each.all.at("bp"), "e");
        ASSERT_GE(each.begin, sent[id]) << "an arrow goes back in time: " << each.all;
        continue;
      }
      ASSERT_GE(each.begin, last[each.track]) << "time goes back: " << each.all;
      last[each.track] = each.begin;
      if (each.phase != "X") continue;
      std::vector<std::int64_t>& around = open[each.track];
      while (!around.empty() && around.back() <= each.begin) around.pop_back();
      if (!around.empty()) {
        ASSERT_LE(each.end, around.back()) << "does not nest: " << each.all;
      }
      if (each.end > each.begin) around.push_back(each.end);
    }
    ASSERT_EQ(sent.size(), came.size());
  }

  nlohmann::json file_;
  std::vector<seen_event> events_;
  std::map<int, std::string> names_;
};

/// What f() leaves in a trace of its own.
template <class Function>
seen_trace trace_of(Function f, trace_options options = trace_options()) {
  const scratch_file to;
  EXPECT_TRUE(start_trace(options));
  f();
  EXPECT_TRUE(stop_trace(to.path()));
  return seen_trace(to.read());
}

/// What a wait on this face is called.
template <class Face>
std::string kind_of(const Face&) {
  if constexpr (std::is_same_v<Face, waited<future_set<int>>>) {
    return "lockstep::eventual";  // that all have contributed
  } else {
    return std::string("lockstep::") + Face::name;
  }
}

}  // namespace lockstep::test
