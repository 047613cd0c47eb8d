// SPDX-License-Identifier: MIT
// tests/fuzz/replay.cpp -- calls a harness for each file, without libFuzzer
//
// usage: <harness> FILE_OR_DIRECTORY...
// Directories are walked in the order of their names. The name printed last is that of a failure.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const fs::path& path) {
  std::printf("%s\n", path.string().c_str());
  std::fflush(stdout);
  std::ifstream file(path, std::ios::binary);
  lockstep::test::require(file.is_open(), "the file can be opened");
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // A copy of its own size: the sanitizers see a read behind its end.
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(data.data(), data.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    const std::vector<fs::path> files = files_of(argv[i]);
    // A corpus that is not found must not pass for one that holds.
    lockstep::test::require(!files.empty(), "a directory holds at least one file");
    for (const fs::path& file : files) replay(file);
    count += files.size();
  }
  std::printf("%zu files\n", count);
  return count > 0 ? 0 : 2;
}
