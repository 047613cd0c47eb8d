// SPDX-License-Identifier: MIT
// Names of code, for observers. Each address is looked up once, and its name is kept for ever. Functions that compilers
// make of regions are no symbols for the loader, but the file of the module often has their names.
#include <dlfcn.h>
#include <unistd.h>

#if defined(__ELF__)
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <lockstep/mutex.hpp>

#include "neighbours.hpp"

namespace lockstep::openmp {
namespace {

#if defined(__ELF__)
/// A file, read as memory.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file < 0) return;
    if (::fstat(file, &about) == 0 && about.st_size > 0) {
      void* const at =
          ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) {
        data_ = static_cast<const char*>(at);
        size_ = static_cast<std::size_t>(about.st_size);
      }
    }
    ::close(file);
  }
  ~mapped_file() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  /// `count` objects at an offset; null if the file does not have them.
  template <class Type>
  const Type* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    if (offset % alignof(Type) != 0 || offset > size_ || count > (size_ - offset) / sizeof(Type))
      return nullptr;
    return reinterpret_cast<const Type*>(data_ + offset);
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The name of the function that begins this far after the module's base, from the table of all symbols, if the file
/// has one.
bool find_in_file(const char* path, std::uintptr_t base, std::uintptr_t address, char* text,
                  std::size_t size) noexcept {
  const mapped_file file(path);
  const ElfW(Ehdr)* const head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const ElfW(Shdr)* const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  if (sections == nullptr) return false;
  const std::uintptr_t value = head->e_type == ET_EXEC ? address : address - base;
  for (unsigned i = 0; i < head->e_shnum; ++i) {
    const ElfW(Shdr)& table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= head->e_shnum) continue;
    const std::uint64_t count = table.sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym)* const symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
    const ElfW(Shdr)& names = sections[table.sh_link];
    const char* const text_of_names = file.at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text_of_names == nullptr) return false;
    for (std::uint64_t k = 0; k < count; ++k) {
      const ElfW(Sym)& one = symbols[k];
      if (one.st_value != value || (one.st_info & 0xF) != STT_FUNC || one.st_name >= names.sh_size)
        continue;
      std::snprintf(text, size, "%.*s", static_cast<int>(names.sh_size - one.st_name),
                    text_of_names + one.st_name);
      return true;
    }
  }
  return false;
}

#else
/// The loader of other systems reads all symbols itself.
bool find_in_file(const char*, std::uintptr_t, std::uintptr_t, char*, std::size_t) noexcept {
  return false;
}
#endif

const char* find_name(const void* address) noexcept {
  char text[256];
  Dl_info found{};
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address);
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) {
    std::snprintf(text, sizeof text, "code at %p", address);
  } else if (found.dli_sname != nullptr && found.dli_saddr == address) {
    std::snprintf(text, sizeof text, "%s", found.dli_sname);
  } else {
    const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(found.dli_fbase);
    // The program's own name may be a path relative to where it was started. This path always holds.
    const char* const path =
        std::strchr(found.dli_fname, '/') != nullptr && ::access(found.dli_fname, R_OK) == 0
            ? found.dli_fname
            : "/proc/self/exe";
    if (!find_in_file(path, base, at, text, sizeof text)) {
      std::snprintf(text, sizeof text, "%s+0x%zx", file_name(found.dli_fname), at - base);
    }
  }
  return ::strdup(text);
}

struct known_name {
  const void* address;
  const char* text;
};
constexpr std::size_t places = 1024;
known_name known[places];
constinit mutex lock;

}  // namespace

const char* name_of_function(const void* address) noexcept {
  const std::size_t first = (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> 54;
  const char* text = "code";
  lock.lock();
  for (std::size_t i = 0; i < places; ++i) {
    known_name& place = known[(first + i) % places];
    if (place.address == nullptr) {
      const char* const made = find_name(address);
      if (made != nullptr) place = {address, made};
    }
    if (place.address == address || place.address == nullptr) {
      if (place.text != nullptr) text = place.text;
      break;
    }
  }
  lock.unlock();
  return text;
}

}  // namespace lockstep::openmp
