// SPDX-License-Identifier: MIT
// Names of code, for observers: found once for each address, kept for good.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <lockstep/mutex.hpp>

#include "loops.hpp"

namespace lockstep::openmp {
namespace {

struct known_name {
  const void* address;
  const char* text;
};
constexpr std::size_t places = 1024;
known_name known[places];
constinit mutex lock;

const char* find_name(const void* address) noexcept {
  char text[256];
  Dl_info found{};
  if (dladdr(address, &found) != 0 && found.dli_sname != nullptr && found.dli_saddr == address) {
    std::snprintf(text, sizeof text, "%s", found.dli_sname);
  } else if (found.dli_fname != nullptr) {
    const char* const slash = std::strrchr(found.dli_fname, '/');
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
    std::snprintf(text, sizeof text, "%s+0x%zx", slash != nullptr ? slash + 1 : found.dli_fname, offset);
  } else {
    std::snprintf(text, sizeof text, "code at %p", address);
  }
  return ::strdup(text);
}

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
