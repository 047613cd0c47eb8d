// SPDX-License-Identifier: MIT
// src/platform/build_info.cpp -- build_info.hpp (layer: platform)
#include <lockstep/build_info.hpp>
#include "cpus.hpp"
#include "system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE build_information build_info() {
  build_information info;
  info.version = LOCKSTEP_VERSION;
  info.futex = detail::native_futex::name();
  info.process_fence = detail::process_fence::name();
  info.cache_line_size = detail::cache_line_size;
  info.default_policy = "adaptive: spin while that pays, yield while that helps, sleep";
  info.usable_cpus = detail::usable_cpus();
  info.diagnoses_misuse = detail::diagnoses_misuse;
  info.missing = detail::text_of_missing();
  return info;
}

LOCKSTEP_INLINE std::string to_string(const build_information& info) {
  std::string text;
  detail::append(text, "version: %s\nfutex: %s\nprocess fence: %s\n", info.version, info.futex,
                 info.process_fence);
  detail::append(text, "cache line size: %zu\ndefault policy: %s\nusable cpus: %u\n",
                 info.cache_line_size, info.default_policy, info.usable_cpus);
  detail::append(text, "diagnoses misuse: %s\nmissing here: %s\n",
                 info.diagnoses_misuse ? "yes" : "no", info.missing);
  return text;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
