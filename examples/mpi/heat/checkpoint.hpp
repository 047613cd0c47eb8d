// SPDX-License-Identifier: MIT
// examples/mpi/heat/checkpoint.hpp -- the state of a run in a file, written in parts, found again after a crash
//
// A file is a header and the cells of the whole grid, row by row, as doubles of this machine. So it does not depend on the
// ranks and members that have written it. It is written beside its place, brought to the disk, and renamed:
//
//   FILE.new   what is being written; of no use before it is complete
//   FILE       the last complete state
//   FILE.old   the one before
//
// At every moment FILE or FILE.old is complete, whenever the program is killed. The checksum is a sum over cells: ranks add
// theirs in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/error.hpp"

namespace examples {

/// What a run is: two runs with the same values go through the same states.
struct heat_problem {
  std::uint64_t rows = 0, columns = 0;
  double diffusion = 0;       // of a step: 0 to 0.25
  std::uint64_t is_ring = 0;  // whether the last column is beside the first
};

struct checkpoint_header {
  static constexpr std::uint64_t magic_value =
      0x5441454820534c4c;  // "LLS HEAT", if the lowest byte comes first
  static constexpr std::uint64_t version_value = 1;

  std::uint64_t magic = magic_value;  // also tells the order of bytes
  std::uint64_t version = version_value;
  heat_problem problem;
  std::uint64_t step = 0;
  std::uint64_t cells_checksum = 0;
  std::uint64_t header_checksum = 0;  // of all before it
};
static_assert(sizeof(checkpoint_header) == 72);

/// Of cells that follow each other in the grid, the first being number `first`; that of all cells is the sum.
[[nodiscard]] std::uint64_t checksum_of(std::uint64_t first, std::span<const double> cells);
/// Of all fields before header_checksum.
[[nodiscard]] std::uint64_t checksum_of(const checkpoint_header& header);

/// The size of a file for this grid.
[[nodiscard]] std::uint64_t bytes_of(const heat_problem& problem);

/// Cells of a file that begin at number `first` of the grid, `header_bytes` after its beginning. All throw input_error.
class cell_file {
 public:
  enum class mode { read, write, create };

  cell_file(const std::string& path, mode how);
  ~cell_file();
  cell_file(const cell_file&) = delete;
  cell_file& operator=(const cell_file&) = delete;

  [[nodiscard]] std::uint64_t size() const;
  void resize(std::uint64_t bytes);
  void read(std::uint64_t offset, void* to, std::size_t bytes) const;
  void write(std::uint64_t offset, const void* from, std::size_t bytes);
  /// Returns when the disk has it.
  void sync();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  int descriptor_;
};

/// FILE becomes FILE.old, FILE.new becomes FILE, and the disk has it. Throws input_error.
void publish_checkpoint(const std::string& path);
/// One file becomes another, and the disk has it.
void rename_durably(const std::string& from, const std::string& to);

/// The header of a file, which is whole, as is the file's size. Throws input_error, which says what is wrong.
[[nodiscard]] checkpoint_header read_header(const std::string& path);

/// The file is complete, and of another run.
class checkpoint_mismatch : public input_error {
 public:
  using input_error::input_error;
};

/// Throws checkpoint_mismatch, with the remedy, unless the file belongs to this run and is not beyond its last step.
void check_belongs(const std::string& path, const checkpoint_header& found,
                   const heat_problem& expected, std::uint64_t last_step);

}  // namespace examples
