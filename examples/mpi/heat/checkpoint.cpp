// SPDX-License-Identifier: MIT
#include "mpi/heat/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "support/error.hpp"

namespace examples {
namespace {

/// A bijection in which every bit of the input changes half of the output: the finaliser of MurmurHash3.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

/// The bytes in the other order.
constexpr std::uint64_t swapped(std::uint64_t x) {
  std::uint64_t result = 0;
  for (int i = 0; i < 8; ++i, x >>= 8) result = result << 8 | (x & 0xff);
  return result;
}

[[noreturn]] void fail_system(const std::string& path, const char* what) {
  throw input_error(fmt::format("{}: {}: {}", in_quotes(path), what, std::strerror(errno)));
}

void sync_directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_system(directory, "cannot open the directory");
  const bool is_done = fsync(descriptor) == 0 || errno == EINVAL;  // some file systems have none
  close(descriptor);
  if (!is_done) fail_system(directory, "cannot bring the directory to the disk");
}

input_error broken(const std::string& path, std::string_view why) {
  return input_error(fmt::format("{} is no complete checkpoint: {}", in_quotes(path), why));
}

}  // namespace

std::uint64_t checksum_of(std::uint64_t first, std::span<const double> cells) {
  std::uint64_t sum = 0;
  for (const double cell : cells) {
    sum += mixed(std::bit_cast<std::uint64_t>(cell) ^ mixed(++first));
  }
  return sum;
}

std::uint64_t checksum_of(const checkpoint_header& header) {
  std::uint64_t fields[sizeof header / sizeof(std::uint64_t)];
  std::memcpy(fields, &header, sizeof header);
  std::uint64_t sum = 0;
  for (const std::uint64_t& field : std::span(fields).first(std::size(fields) - 1)) {
    sum = mixed(sum ^ field) + 1;
  }
  return sum;
}

std::uint64_t bytes_of(const heat_problem& problem) {
  return sizeof(checkpoint_header) + problem.rows * problem.columns * sizeof(double);
}

cell_file::cell_file(const std::string& path, mode how) : path_(path) {
  const int flags = how == mode::read    ? O_RDONLY
                    : how == mode::write ? O_WRONLY
                                         : O_WRONLY | O_CREAT | O_TRUNC;
  descriptor_ = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot open the file; all ranks need its directory");
}
cell_file::~cell_file() { close(descriptor_); }

std::uint64_t cell_file::size() const {
  struct stat found;
  if (fstat(descriptor_, &found) != 0) fail("cannot ask for the size");
  if (!S_ISREG(found.st_mode)) {
    throw input_error(fmt::format("{} is no regular file", in_quotes(path_)));
  }
  return static_cast<std::uint64_t>(found.st_size);
}

void cell_file::resize(std::uint64_t bytes) {
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("cannot set the size");
}

void cell_file::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = pread(descriptor_, static_cast<char*>(to) + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read");
    if (count == 0) throw broken(path_, "it ends too early");
    done += static_cast<std::size_t>(count);
  }
}

void cell_file::write(std::uint64_t offset, const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done,
                                 static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write");
    done += static_cast<std::size_t>(count);
  }
}

void cell_file::sync() {
  if (fsync(descriptor_) != 0) fail("cannot bring the file to the disk");
}

void cell_file::fail(const char* what) const { fail_system(path_, what); }

void rename_durably(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_system(to, "cannot give the file its name");
  sync_directory_of(to);
}

void publish_checkpoint(const std::string& path) {
  const std::string old = path + ".old", complete = path + ".new";
  // Between the two steps there is no FILE, but FILE.old is complete.
  if (std::rename(path.c_str(), old.c_str()) != 0 && errno != ENOENT) {
    fail_system(old, "cannot give the last checkpoint this name");
  }
  rename_durably(complete, path);
}

checkpoint_header read_header(const std::string& path) {
  const cell_file file(path, cell_file::mode::read);
  const std::uint64_t size = file.size();
  checkpoint_header header;
  if (size < sizeof header) throw broken(path, "it is shorter than a header");
  file.read(0, &header, sizeof header);
  if (header.magic == swapped(checkpoint_header::magic_value)) {
    throw broken(path, "it is from a machine with the other order of bytes; go on there");
  }
  if (header.magic != checkpoint_header::magic_value) {
    throw broken(path, "it does not begin as one");
  }
  if (header.version != checkpoint_header::version_value) {
    throw broken(path, fmt::format("it is of version {}, this program reads version {}",
                                   header.version, checkpoint_header::version_value));
  }
  if (header.header_checksum != checksum_of(header)) throw broken(path, "its header is damaged");
  const heat_problem& problem = header.problem;
  if (size != bytes_of(problem)) {
    throw broken(path, fmt::format("it has {} bytes, {} x {} cells need {}", size, problem.rows,
                                   problem.columns, bytes_of(problem)));
  }
  return header;
}

void check_belongs(const std::string& path, const checkpoint_header& found,
                   const heat_problem& expected, std::uint64_t last_step) {
  const heat_problem& of = found.problem;
  const std::string name = in_quotes(path);
  if (of.rows != expected.rows || of.columns != expected.columns) {
    throw checkpoint_mismatch(fmt::format(
        "checkpoint {} is of {} x {} cells, this run has {} x {}: give --rows {} --columns {}, or "
        "another --checkpoint",
        name, of.rows, of.columns, expected.rows, expected.columns, of.rows, of.columns));
  }
  if (of.diffusion != expected.diffusion) {
    throw checkpoint_mismatch(fmt::format(
        "checkpoint {} is of a run with --diffusion {}, this one has {}: give the same, or another "
        "--checkpoint",
        name, of.diffusion, expected.diffusion));
  }
  if (of.is_ring != expected.is_ring) {
    throw checkpoint_mismatch(fmt::format(
        "checkpoint {} is of a run {} --ring, this one is {}: do the same, or give another "
        "--checkpoint",
        name, of.is_ring != 0 ? "with" : "without", expected.is_ring != 0 ? "with" : "without"));
  }
  if (found.step > last_step) {
    throw checkpoint_mismatch(fmt::format(
        "checkpoint {} is at step {}, beyond --steps {}: give more steps, or another --checkpoint",
        name, found.step, last_step));
  }
}

}  // namespace examples
