// SPDX-License-Identifier: MIT
// openmp/runtime/text_reader.hpp -- values of environment variables, read from the left
#ifndef LOCKSTEP_OPENMP_RUNTIME_TEXT_READER_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TEXT_READER_HPP

#include <strings.h>

#include <cctype>
#include <cstddef>
#include <cstring>
#include <utility>

#include "platform/cpus.hpp"
#include "platform/system_texts.hpp"

#include "control_variables.hpp"

namespace lockstep::openmp {

/// Words of variables. The first one of a value is the one that is shown. They are read in capital or small letters.
template <class Value, std::size_t Count>
using words = const std::pair<const char*, Value>[Count];
constexpr words<schedule_kind, 4> schedule_words = {{"STATIC", schedule_kind::fixed},
                                                    {"DYNAMIC", schedule_kind::dynamic},
                                                    {"GUIDED", schedule_kind::guided},
                                                    {"AUTO", schedule_kind::automatic}};
constexpr words<proc_bind, 4> bind_words = {{"PRIMARY", proc_bind::primary},
                                            {"MASTER", proc_bind::primary},
                                            {"CLOSE", proc_bind::close},
                                            {"SPREAD", proc_bind::spread}};
constexpr words<target_offload, 3> offload_words = {{"DEFAULT", target_offload::usual},
                                                    {"MANDATORY", target_offload::mandatory},
                                                    {"DISABLED", target_offload::disabled}};

/// Requires: the value is in the table.
template <class Value, std::size_t Count>
const char* name_in(words<Value, Count>& table, Value of) noexcept {
  const auto* each = table;
  while (each->second != of) ++each;
  return each->first;
}

/// Functions that begin with `take` move on only if they return true, except those that read lists.
class text_reader {
 public:
  explicit text_reader(const char* text) noexcept : at_(text) { skip(); }

  bool is_at_end() const noexcept { return *at_ == 0; }
  bool take(char wanted) noexcept {
    if (*at_ != wanted) return false;
    ++at_;
    skip();
    return true;
  }
  /// A word in letters and '_', in capital or small ones.
  bool take_word(const char* word) noexcept {
    const std::size_t length = std::strlen(word);
    if (strncasecmp(at_, word, length) != 0) return false;
    const unsigned char next = static_cast<unsigned char>(at_[length]);
    if (std::isalnum(next) != 0 || next == '_') return false;
    at_ += length;
    skip();
    return true;
  }
  /// The value of the first word of a table that comes next.
  template <class Value, std::size_t Count>
  bool take_named(words<Value, Count>& table, Value& result) noexcept {
    for (const auto& [name, value] : table) {
      if (!take_word(name)) continue;
      result = value;
      return true;
    }
    return false;
  }
  bool take_number(unsigned long long most, unsigned long long& result) noexcept {
    if (!detail::read_number(at_, most, result)) return false;
    skip();
    return true;
  }

  /// A number of a CPU, or of units.
  bool take_number(unsigned& result) noexcept {
    unsigned long long number = 0;
    if (!take_number(detail::max_cpus - 1, number)) return false;
    result = static_cast<unsigned>(number);
    return true;
  }
  bool take_signed(int& result) noexcept {
    const bool is_negative = take('-');
    if (!is_negative) take('+');
    unsigned number = 0;
    if (!take_number(number)) return false;
    result = is_negative ? -static_cast<int>(number) : static_cast<int>(number);
    return true;
  }

 private:
  void skip() noexcept { at_ = detail::skip_blanks(at_); }

  const char* at_;
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TEXT_READER_HPP
