// SPDX-License-Identifier: MIT
#include "support/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <system_error>

#include "support/error.hpp"

namespace examples {
namespace {

struct file_closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

input_error file_error(std::string_view path, std::string_view action, std::error_code why) {
  return input_error(fmt::format("{}: cannot {}: {}", path, action, why.message()));
}

std::error_code last_error() { return {errno, std::generic_category()}; }

std::size_t size_of_regular_file(const std::string& path, std::uint64_t most) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw input_error(fmt::format("{}: is not a regular file", path));
  }
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw file_error(path, "read", failure);
  if (size > most || size > std::numeric_limits<std::size_t>::max()) {
    throw input_error(
        fmt::format("{}: too large: {} bytes, files of up to {} are read", path, size, most));
  }
  return static_cast<std::size_t>(size);
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  std::string bytes(size_of_regular_file(path, most), '\0');
  const file_handle file(std::fopen(path.c_str(), "rb"));
  if (!file) throw file_error(path, "read", last_error());
  const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (std::ferror(file.get())) throw file_error(path, "read", last_error());
  bytes.resize(count);
  return bytes;
}

output_file::output_file(const std::string& path) {
  if (path.empty()) return;
  std::error_code ignored;
  target_ = std::filesystem::weakly_canonical(path, ignored);
  if (target_.empty()) target_ = path;
  // Renaming over a device or a directory would destroy it or fail late.
  const std::filesystem::file_status status = std::filesystem::status(target_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw input_error(fmt::format("{}: is not a regular file", path));
  }
  temporary_ = target_;
  temporary_ += fmt::format(".{:08x}.tmp", std::random_device{}());
  const file_handle file(std::fopen(temporary_.string().c_str(), "wbx"));
  if (!file) {
    const std::error_code why = last_error();
    temporary_.clear();
    throw file_error(path, "write", why);
  }
}

output_file::~output_file() {
  if (!temporary_.empty()) remove_quietly(temporary_);
}

void output_file::write(std::string_view bytes) {
  if (temporary_.empty()) return;
  file_handle file(std::fopen(temporary_.string().c_str(), "wb"));
  if (!file) throw file_error(target_.string(), "write", last_error());
  const bool complete = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  // A full disk may show only when the last buffer is written.
  if (!complete || std::fclose(file.release()) != 0) {
    throw file_error(target_.string(), "write", last_error());
  }
}

void output_file::commit() {
  if (temporary_.empty()) return;
  std::error_code failure;
  std::filesystem::rename(temporary_, target_, failure);
  if (failure) throw file_error(target_.string(), "write", failure);
  temporary_.clear();
}

void output_file::remove_quietly(const std::filesystem::path& path) noexcept {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void commit_all(std::initializer_list<output_file*> files) {
  for (output_file* const file : files) {
    try {
      file->commit();
    } catch (...) {
      for (output_file* const done : files) {
        if (done == file) break;
        done->remove_quietly(done->target_);
      }
      throw;
    }
  }
}

}  // namespace examples
