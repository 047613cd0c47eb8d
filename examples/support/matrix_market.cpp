// SPDX-License-Identifier: MIT
#include "support/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "support/error.hpp"
#include "support/number.hpp"

namespace examples {
namespace {

enum class number_field { real, integer };

/// Walks over the lines that hold anything, and over the words of the current one.
class line_reader {
 public:
  line_reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  /// Moves to the next line that is not blank; false at the end of the text.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      words_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      skip_blanks();
      if (!words_.empty()) return true;
    }
    return false;
  }

  /// The next word of the line, empty at its end.
  std::string_view next_word() {
    const std::size_t end = std::min(words_.find_first_of(blanks), words_.size());
    const std::string_view word = words_.substr(0, end);
    words_.remove_prefix(end);
    skip_blanks();
    return word;
  }

  [[nodiscard]] bool at_comment() const { return words_.front() == '%'; }
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] std::size_t bytes_left() const { return rest_.size(); }
  [[nodiscard]] input_error error(std::string_view message) const {
    return error_at_line(name_, std::max<std::size_t>(line_, 1), message);
  }

  void expect_end_of_line() {
    const std::string_view word = next_word();
    if (!word.empty()) throw error(in_quotes(word) + " is one word too many");
  }

  template <class Number>
  Number next_number(std::string_view what) {
    const std::string_view word = next_word();
    if (word.empty()) throw error(fmt::format("{} is missing", what));
    const parsed_number<Number> number = parse_number<Number>(word);
    if (number.fault != number_fault::none) {
      throw error(fmt::format("{} {} {}", what, in_quotes(word), explain(number.fault)));
    }
    return number.value;
  }

 private:
  static constexpr std::string_view blanks = " \t\r\v\f";

  void skip_blanks() {
    words_.remove_prefix(std::min(words_.find_first_not_of(blanks), words_.size()));
  }

  std::string_view rest_;
  std::string_view words_;
  std::string_view name_;
  std::size_t line_ = 0;
};

/// The next word of the banner: the index of the choice that it names.
std::size_t next_choice(line_reader& lines, std::string_view what,
                        std::initializer_list<std::string_view> choices) {
  const std::string_view word = lines.next_word();
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto found = std::find(choices.begin(), choices.end(), lower);
  if (found == choices.end()) {
    throw lines.error(fmt::format("{} {} is not supported, only {}", what, in_quotes(word),
                                  fmt::join(choices, " or ")));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

number_field read_banner(line_reader& lines, market_matrix& matrix) {
  if (!lines.next_line() || lines.line() != 1 || lines.next_word() != "%%MatrixMarket") {
    throw lines.error("the first line does not begin with %%MatrixMarket");
  }
  next_choice(lines, "object", {"matrix"});
  matrix.is_array = next_choice(lines, "format", {"coordinate", "array"}) == 1;
  const std::size_t field = next_choice(lines, "field", {"real", "integer"});
  matrix.is_symmetric = next_choice(lines, "symmetry", {"general", "symmetric"}) == 1;
  lines.expect_end_of_line();
  return field == 1 ? number_field::integer : number_field::real;
}

std::uint32_t next_dimension(line_reader& lines, std::string_view what) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  const auto size = lines.next_number<std::int64_t>(what);
  if (size < 1 || size > largest) {
    throw lines.error(fmt::format("{} {} is not in the range 1 to {}", what, size, largest));
  }
  return static_cast<std::uint32_t>(size);
}

void read_dimensions(line_reader& lines, market_matrix& matrix) {
  matrix.size_line = lines.line();
  matrix.rows = next_dimension(lines, "number of rows");
  matrix.columns = next_dimension(lines, "number of columns");
  if (matrix.is_symmetric && matrix.rows != matrix.columns) {
    throw lines.error(
        fmt::format("a symmetric matrix cannot be {} x {}", matrix.rows, matrix.columns));
  }
}

/// The number of entries: announced in a coordinate file, all that are stored in an array file.
std::uint64_t read_entry_count(line_reader& lines, const market_matrix& matrix) {
  const std::uint64_t rows = matrix.rows;  // the product of two dimensions fits into 64 bits
  const std::uint64_t most = matrix.is_symmetric ? rows * (rows + 1) / 2 : rows * matrix.columns;
  if (matrix.is_array) return most;
  const auto count = lines.next_number<std::int64_t>("number of entries");
  if (count < 0 || static_cast<std::uint64_t>(count) > most) {
    throw lines.error(fmt::format("number of entries {} is not in the range 0 to {}", count, most));
  }
  return static_cast<std::uint64_t>(count);
}

/// Reads the size line and returns the number of entries, which the rest of the text has room for:
/// without that check a few bytes of text could ask for all memory.
std::size_t read_sizes(line_reader& lines, market_matrix& matrix) {
  do {
    if (!lines.next_line()) throw lines.error("the text ends before the size line");
  } while (lines.at_comment());
  read_dimensions(lines, matrix);
  const std::uint64_t count = read_entry_count(lines, matrix);
  lines.expect_end_of_line();
  // The shortest entries are "1 1 1\n" and "1\n"; the last line may lack its end.
  const std::size_t room = (lines.bytes_left() + 1) / (matrix.is_array ? 2 : 6);
  if (count > room) {
    throw lines.error(
        fmt::format("truncated or wrong: {} entries cannot stand in the {} bytes "
                    "that follow",
                    count, lines.bytes_left()));
  }
  return static_cast<std::size_t>(count);
}

double next_value(line_reader& lines, number_field field) {
  if (field == number_field::real) return lines.next_number<double>("value");
  constexpr std::int64_t largest = std::int64_t{1} << std::numeric_limits<double>::digits;
  const auto value = lines.next_number<std::int64_t>("value");
  if (value < -largest || value > largest) {
    throw lines.error(fmt::format("value {} does not fit into a double exactly", value));
  }
  return static_cast<double>(value);
}

std::uint32_t next_index(line_reader& lines, std::string_view what, std::uint32_t size) {
  const auto index = lines.next_number<std::int64_t>(what);
  if (index < 1 || index > size) {
    throw lines.error(fmt::format("{} {} is not in the range 1 to {}", what, index, size));
  }
  return static_cast<std::uint32_t>(index - 1);
}

void next_entry_line(line_reader& lines, std::size_t done, std::size_t count) {
  if (lines.next_line()) return;
  throw lines.error(fmt::format("the text ends after {} of {} entries", done, count));
}

matrix_entry next_coordinate_entry(line_reader& lines, const market_matrix& matrix,
                                   number_field field) {
  matrix_entry entry;
  entry.line = lines.line();
  entry.row = next_index(lines, "row", matrix.rows);
  entry.column = next_index(lines, "column", matrix.columns);
  if (matrix.is_symmetric && entry.row < entry.column) {
    throw lines.error(fmt::format("entry ({}, {}) is above the diagonal of a symmetric matrix",
                                  entry.row + 1, entry.column + 1));
  }
  entry.value = next_value(lines, field);
  lines.expect_end_of_line();
  return entry;
}

void read_coordinate(line_reader& lines, market_matrix& matrix, number_field field,
                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    next_entry_line(lines, i, count);
    matrix.entries.push_back(next_coordinate_entry(lines, matrix, field));
  }
}

/// Values stand column by column, one on each line; a symmetric column begins at the diagonal.
void read_array(line_reader& lines, market_matrix& matrix, number_field field, std::size_t count) {
  for (std::uint32_t column = 0; column < matrix.columns; ++column) {
    for (std::uint32_t row = matrix.is_symmetric ? column : 0; row < matrix.rows; ++row) {
      next_entry_line(lines, matrix.entries.size(), count);
      const double value = next_value(lines, field);
      matrix.entries.push_back({row, column, value, lines.line()});
      lines.expect_end_of_line();
    }
  }
}

/// The format says nothing about an entry given twice; adding them up could hide a mistake.
void reject_duplicates(const market_matrix& matrix) {
  std::vector<matrix_entry> sorted = matrix.entries;
  std::sort(sorted.begin(), sorted.end(), [](const matrix_entry& a, const matrix_entry& b) {
    return std::pair(place(a), a.line) < std::pair(place(b), b.line);
  });
  const auto same_place = [](const matrix_entry& a, const matrix_entry& b) {
    return place(a) == place(b);
  };
  const auto first = std::adjacent_find(sorted.begin(), sorted.end(), same_place);
  if (first == sorted.end()) return;
  const matrix_entry& second = *std::next(first);
  throw error_at_line(matrix.name, second.line,
                      fmt::format("entry ({}, {}) was given on line {} already", second.row + 1,
                                  second.column + 1, first->line));
}

}  // namespace

market_matrix parse_matrix_market(std::string_view text, std::string_view name) {
  line_reader lines(text, name);
  market_matrix matrix;
  matrix.name = name;
  const number_field field = read_banner(lines, matrix);
  const std::size_t count = read_sizes(lines, matrix);
  matrix.entries.reserve(count);
  if (matrix.is_array) {
    read_array(lines, matrix, field, count);
  } else {
    read_coordinate(lines, matrix, field, count);
    reject_duplicates(matrix);
  }
  if (lines.next_line()) throw lines.error("text after the last entry");
  return matrix;
}

std::string to_matrix_market(std::span<const double> vector, std::string_view comment) {
  std::string text = fmt::format("%%MatrixMarket matrix array real general\n% {}\n{} 1\n",
                                 one_line(comment), vector.size());
  // Without a precision {fmt} writes the shortest text that is read back as the same number.
  for (const double value : vector) fmt::format_to(std::back_inserter(text), "{}\n", value);
  return text;
}

}  // namespace examples
