// SPDX-License-Identifier: MIT
// KMP_AFFINITY and KMP_HW_SUBSET, the variables by which users of LLVM's runtime say where threads run.
//
//   KMP_AFFINITY=[modifier,...]type[,permute][,offset]
//   compact   members follow each other from hyper-thread to hyper-thread, from core to core, from package to package
//   scatter   from package to package first, then from core to core
//   balanced  compact, in as many blocks as there are members
//   explicit  as proclist=[...] says
//   permute   this many of the innermost levels change first, and the innermost of all fastest. So `scatter` is
//             `compact` with all levels but one. Levels that have one unit each do not count.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "affinity.hpp"
#include "text_reader.hpp"

namespace lockstep::openmp::affinity {
namespace {

using place = std::vector<unsigned>;
using place_list = std::vector<place>;

/// For each CPU its number among the units of that level: in the unit around it of level `within`, or in all if that is
/// negative.
std::vector<unsigned> numbers_of(const detail::cpu_topology& all, level of, int within) {
  std::vector<unsigned> result;
  for (const cpu_place& each : all) {
    std::vector<unsigned> before;
    for (const cpu_place& other : all) {
      if (within >= 0 && key_of(other, level(within)) != key_of(each, level(within))) continue;
      const unsigned key = key_of(other, of);
      if (key == key_of(each, of)) break;
      if (std::find(before.begin(), before.end(), key) == before.end()) before.push_back(key);
    }
    result.push_back(static_cast<unsigned>(before.size()));
  }
  return result;
}

detail::cpu_topology topology() {
  detail::cpu_topology all = detail::read_topology(usable_cpus());
  std::sort(all.begin(), all.end(), [](const cpu_place& a, const cpu_place& b) {
    for (const level each : {package, node, cache, core}) {
      if (key_of(a, each) != key_of(b, each)) return key_of(a, each) < key_of(b, each);
    }
    return a.cpu < b.cpu;
  });
  return all;
}

/// Places of the units of `grain`, in the order of their CPUs when `permute` of the innermost levels change first.
place_list ordered_places(level grain, bool is_scattered, unsigned permute, unsigned offset) {
  const detail::cpu_topology all = topology();
  // Packages, cores and threads, without levels that have one unit in each unit around.
  std::vector<std::vector<unsigned>> numbers;
  for (const auto& [of, within] :
       {std::pair(package, -1), std::pair(core, int{package}), std::pair(thread, int{core})}) {
    std::vector<unsigned> each = numbers_of(all, of, within);
    if (std::any_of(each.begin(), each.end(), [](unsigned number) { return number != 0; }))
      numbers.push_back(each);
  }
  const std::size_t depth = numbers.size();
  std::size_t first = permute < depth ? permute : depth == 0 ? 0 : depth - 1;
  if (is_scattered) first = permute < depth ? depth - 1 - permute : 0;
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < depth; ++i) {
      const std::vector<unsigned>& at = i < first ? numbers[depth - 1 - i] : numbers[i - first];
      if (at[a] != at[b]) return at[a] < at[b];
    }
    return a < b;
  });
  place_list result;
  std::vector<unsigned> keys;
  for (const std::size_t at : order) add_by_key(result, keys, key_of(all[at], grain), all[at].cpu);
  for (place& each : result) std::sort(each.begin(), each.end());
  if (!result.empty())
    std::rotate(result.begin(),
                result.begin() + static_cast<std::ptrdiff_t>(offset % result.size()), result.end());
  return result;
}

/// "[3,0,{1,2},4-7:2]"
bool take_proclist(text_reader& from, place_list& result) noexcept {
  if (!from.take('[')) return false;
  do {
    place together;
    const bool has_braces = from.take('{');
    if (has_braces ? !take_rest_of_place(from, together) : !take_range(from, result)) return false;
    if (has_braces) result.push_back(together);
  } while (from.take(','));
  return from.take(']');
}

enum class kind { none, compact, scatter, balanced, listed };

}  // namespace

unsigned key_of(const cpu_place& at, level of) noexcept {
  switch (of) {
    case package: return at.package;
    case node: return at.node;
    case cache: return at.cache;
    case core: return at.core;
    default: return at.cpu;
  }
}

bool take_level(text_reader& from, level& result) noexcept {
  static constexpr std::pair<const char*, level> names[] = {
      {"fine", thread},     {"threads", thread},  {"thread", thread},
      {"t", thread},        {"cores", core},      {"core", core},
      {"c", core},          {"tile", cache},      {"ll_cache", cache},
      {"ll_caches", cache}, {"l3_cache", cache},  {"l3", cache},
      {"ll", cache},        {"numa", node},       {"numa_domains", node},
      {"n", node},          {"sockets", package}, {"socket", package},
      {"package", package}, {"s", package}};
  return from.take_named(names, result);
}

bool read_kmp_affinity(const char* text, kmp_request& asked) noexcept {
  text_reader from(text);
  kind how = kind::none;
  level grain = core;
  unsigned numbers[2] = {0, 0}, count = 0;  // permute, offset
  place_list listed;
  static constexpr std::pair<const char*, kind> kinds[] = {
      {"none", kind::none},         {"disabled", kind::none},    {"compact", kind::compact},
      {"logical", kind::compact},   {"physical", kind::scatter}, {"scatter", kind::scatter},
      {"balanced", kind::balanced}, {"explicit", kind::listed}};
  do {
    bool is_known = from.take_named(kinds, how);
    for (const char* const each :
         {"respect", "norespect", "noverbose", "warnings", "nowarnings", "noreset"}) {
      is_known = is_known || from.take_word(each);
    }
    if (is_known) continue;
    if (from.take_word("verbose")) {
      asked.is_verbose = true;
    } else if (from.take_word("reset")) {
      asked.is_reset = true;
    } else if (from.take_word("granularity")) {
      if (!from.take('=') || !take_level(from, grain)) return false;
    } else if (from.take_word("proclist")) {
      if (!from.take('=') || !take_proclist(from, listed)) return false;
    } else if (count == 2 || !from.take_number(numbers[count++])) {
      return false;
    }
  } while (from.take(','));
  if (!from.is_at_end() || (how == kind::listed) != !listed.empty()) return false;
  if (how == kind::none) return true;
  // A single number after `balanced` and the like is the offset, as in LLVM's runtime.
  if (how == kind::listed) {
    if (!use_places(listed, "KMP_AFFINITY")) return false;
  } else {
    use_places(ordered_places(grain, how == kind::scatter, numbers[0], numbers[1]), "KMP_AFFINITY");
  }
  if (asked.is_reset) reset_after_regions();
  asked.bind = how == kind::balanced ? proc_bind::spread : proc_bind::close;
  return true;
}

bool read_hardware_subset(const char* text) noexcept {
  // "2s,4c@1,1t": this many units of a kind in each unit around, after skipping the number behind '@'. With ':' before
  // it: of all units of the kind.
  text_reader from(text);
  const bool is_absolute = from.take(':');
  struct {
    unsigned count = 0, offset = 0;  ///< 0: not named
  } wanted[levels];
  do {
    unsigned count = detail::max_cpus, offset = 0;
    if (!from.take('*') && (!from.take_number(count) || count == 0)) return false;
    level which = thread;
    if (!take_level(from, which) || wanted[which].count != 0) return false;
    if (from.take('@') && !from.take_number(offset)) return false;
    wanted[which] = {count, offset};
  } while (from.take(','));
  if (!from.is_at_end()) return false;
  const detail::cpu_topology all = topology();
  std::vector<unsigned> kept;
  std::vector<bool> is_kept(all.size(), true);
  int around = -1;
  for (int each = package; each < levels; ++each) {
    const int within = each == thread && !is_absolute ? int{core} : around;
    if (wanted[each].count == 0) {
      if (each == package && !is_absolute) around = package;
      continue;
    }
    const std::vector<unsigned> numbers = numbers_of(all, level(each), within);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const unsigned number = numbers[i];
      is_kept[i] = is_kept[i] && number >= wanted[each].offset &&
                   number - wanted[each].offset < wanted[each].count;
    }
    around = is_absolute ? -1 : each;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_kept[i]) kept.push_back(all[i].cpu);
  }
  if (kept.empty()) return false;
  std::sort(kept.begin(), kept.end());
  use_only(kept);
  return true;
}

}  // namespace lockstep::openmp::affinity
