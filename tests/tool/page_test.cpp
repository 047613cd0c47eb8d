// SPDX-License-Identifier: MIT
#include "tool/page.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tool/trace_reader.hpp"

namespace {

using tool::figures_of;
using tool::pack;
using tool::packed_trace;
using tool::trace;

trace two_threads() {
  return tool::read_trace(R"({"traceEvents":[
    {"ph":"X","cat":"region","name":"</script><b>","pid":1,"tid":0,"ts":10,"dur":0.3},
    {"ph":"X","cat":"part","name":"p","pid":1,"tid":0,"ts":10.1,"dur":0.15,"args":{"rank":0}},
    {"ph":"X","cat":"part","name":"p","pid":1,"tid":1,"ts":10.2,"dur":0.05,"args":{"rank":300}},
    {"ph":"s","id":1,"pid":1,"tid":0,"ts":10.1},{"ph":"f","id":1,"pid":1,"tid":1,"ts":10.2}]})",
                          "t.json");
}

std::string bytes_of(const packed_trace& of, const std::string& name) {
  for (const auto& [section, bytes] : of.sections) {
    if (section == name) return bytes;
  }
  ADD_FAILURE() << name;
  return "";
}

std::vector<std::uint64_t> numbers_of(const packed_trace& of, const std::string& name) {
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  int shift = 0;
  for (const char c : bytes_of(of, name)) {
    const auto byte = static_cast<unsigned char>(c);
    number |= static_cast<std::uint64_t>(byte & 127) << shift;
    shift += 7;
    if (byte >= 128) continue;
    numbers.push_back(number);
    number = 0, shift = 0;
  }
  return numbers;
}

using numbers = std::vector<std::uint64_t>;

TEST(PackedTrace, NumbersTakeSevenBitsAByte) {
  std::string bytes;
  for (const std::uint64_t number : {0ull, 127ull, 128ull, 300ull})
    tool::append_number(bytes, number);
  EXPECT_EQ(bytes, std::string("\x00\x7f\x80\x01\xac\x02", 6));
}

TEST(PackedTrace, Base64IsPadded) {
  EXPECT_EQ(tool::to_base64(""), "");
  EXPECT_EQ(tool::to_base64("f"), "Zg==");
  EXPECT_EQ(tool::to_base64("fo"), "Zm8=");
  EXPECT_EQ(tool::to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(tool::to_base64("\xff\xfe"), "//4=");
}

TEST(PackedTrace, SlicesAreGapLengthAndLookOfEachRow) {
  const trace of = two_threads();
  const packed_trace packed = pack(of, figures_of(of));
  EXPECT_EQ(packed.description["rows"].dump(), "[[0,0,1],[0,1,1],[1,0,1]]");
  EXPECT_EQ(numbers_of(packed, "slices"), (numbers{0, 300, 0, 100, 150, 1, 200, 50, 1}));
  EXPECT_EQ(numbers_of(packed, "numbers"), (numbers{0, 300}));
}

TEST(PackedTrace, ArrowsAndRunsAreThoseOfTheTrace) {
  const trace of = two_threads();
  const packed_trace packed = pack(of, figures_of(of));
  EXPECT_EQ(numbers_of(packed, "arrows"), (numbers{200, 2 * 100, 0, 1}));
  EXPECT_EQ(numbers_of(packed, "runs"), (numbers{0, 300, 0, 100, 100, 2, 50, 600 - 150 - 50}));
}

TEST(PackedTrace, ActivityIsWhenTheThreadComputedWasSerialAndWasThere) {
  const trace of = two_threads();
  const packed_trace packed = pack(of, figures_of(of));
  EXPECT_EQ(packed.description["threads"][0]["computing"], 1);
  EXPECT_EQ(packed.description["threads"][0]["serial"], 0);
  EXPECT_EQ(packed.description["threads"][0]["there"].dump(), "[0,300]");
  EXPECT_EQ(numbers_of(packed, "activity"), (numbers{100, 150, 200, 50}));
}

TEST(Page, NamesCannotEndTheScript) {
  const trace of = two_threads();
  const std::string page = make_page(pack(of, figures_of(of)), "a<b & c>.json");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cb>"), std::string::npos);
  EXPECT_NE(page.find("<title>a&lt;b &amp; c&gt;.json - lockstep</title>"), std::string::npos);
}

TEST(Page, LoadsNothing) {
  const trace of = two_threads();
  const std::string page = make_page(pack(of, figures_of(of)), "t.json");
  for (const char* const sign :
       {"http:", "https:", "src=", "<link", "@import", "url(", "import(", "fetch(", "{{"}) {
    EXPECT_EQ(page.find(sign), std::string::npos) << sign;
  }
}

}  // namespace
