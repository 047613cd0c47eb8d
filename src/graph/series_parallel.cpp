// SPDX-License-Identifier: MIT
// src/graph/series_parallel.cpp -- the bodies of series_parallel.hpp (layer: graph)
#include "series_parallel.hpp"

#include <algorithm>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using number_list = growing_array<std::uint32_t>;

/// Joins arcs that follow each other, or lie beside each other, until nothing can be joined: NFREE-2. Arc i is item i.
class arc_joiner {
 public:
  explicit arc_joiner(std::size_t places)
      : places_(places), table_(table_size(places), arc_number{no_node}) {}

  void add_item(std::uint32_t from, std::uint32_t to) {
    arcs_.push_back({from, to, no_node, no_node, true, false});
  }

  /// The arc that is left, or none if there are several.
  std::uint32_t join() {
    const std::uint32_t items = static_cast<std::uint32_t>(arcs_.size());
    for (std::uint32_t i = 0; i < items; ++i) add(i);
    number_list open;
    for (std::uint32_t i = 0; i < places_.size(); ++i) open.push_back(i);
    while (!open.empty()) {
      const place at = places_[open.back()];
      const std::uint32_t number = open.back();
      open.pop_back();
      if (at.ins != 1 || at.outs != 1) continue;
      const std::uint32_t before = at.in, after = at.out;
      places_[number].ins = places_[number].outs = 0;
      remove(before);
      remove(after);
      arcs_.push_back({arcs_[before].from, arcs_[after].to, before, after, true, true});
      add(static_cast<std::uint32_t>(arcs_.size() - 1));
      open.push_back(arcs_[before].from);
      open.push_back(arcs_[after].to);
    }
    return left_ == 1 ? last_ : std::uint32_t{no_node};
  }

  /// The places of so many items, in the two orders that put together are that of the parts.
  void order(std::uint32_t whole, bool from_behind, number_list& into) const {
    std::uint32_t next = 0;
    number_list open(1, whole);
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      const arc& part = arcs_[at];
      if (part.first == no_node) {
        into[at] = next++;
        continue;
      }
      const bool turns = from_behind && !part.is_series;
      open.push_back(turns ? part.first : part.second);
      open.push_back(turns ? part.second : part.first);
    }
  }

 private:
  using arc_number = std::uint32_t;
  struct arc {
    std::uint32_t from, to;
    arc_number first, second;  // that it was joined of, or none
    bool is_left, is_series;
  };
  /// `in`, `out`: of all arcs there, one after the other exclusively or'ed: the only one, where there is one.
  struct place {
    std::uint32_t ins = 0, outs = 0;
    arc_number in = 0, out = 0;
  };

  static std::size_t table_size(std::size_t places) noexcept {
    std::size_t size = 16;
    while (size < 8 * places) size *= 2;
    return size;
  }

  /// Where an arc between these places is to be found.
  arc_number& slot(std::uint32_t from, std::uint32_t to) noexcept {
    std::uint64_t hash = (std::uint64_t{from} << 32 | to) * 0x9e3779b97f4a7c15u;
    for (hash ^= hash >> 29;; ++hash) {
      arc_number& at = table_[converted<std::size_t>(hash) & (table_.size() - 1)];
      if (at == no_node || (arcs_[at].from == from && arcs_[at].to == to)) return at;
    }
  }
  void add(arc_number made) {
    const std::uint32_t from = arcs_[made].from, to = arcs_[made].to;
    arc_number& at = slot(from, to);
    if (at != no_node && arcs_[at].is_left) {  // beside each other
      const arc_number other = at;
      remove(other);
      arcs_[made].is_left = false;
      arcs_.push_back({from, to, other, made, true, false});
      made = static_cast<arc_number>(arcs_.size() - 1);
    }
    at = made;
    ++left_;
    last_ = made;
    ++places_[from].outs;
    places_[from].out ^= made;
    ++places_[to].ins;
    places_[to].in ^= made;
  }
  void remove(arc_number which) {
    arc& gone = arcs_[which];
    gone.is_left = false;
    --left_;
    --places_[gone.from].outs;
    places_[gone.from].out ^= which;
    --places_[gone.to].ins;
    places_[gone.to].in ^= which;
  }

  growing_array<arc> arcs_;
  growing_array<place> places_;
  growing_array<arc_number> table_;
  std::size_t left_ = 0;
  arc_number last_ = no_node;
};

/// Items by their places in an order, and what comes directly after each.
class ordered_items {
 public:
  ordered_items(std::size_t count, const growing_array<model_edge>& edges)
      : count_(static_cast<std::uint32_t>(count)),
        edges_(edges),
        out_(edges_by(edges, count, false)),
        in_(edges_by(edges, count, true)) {}

  /// a, b, c, d of an N; empty if there is none.
  number_list find_n() const {
    if (!has_n(0, count_)) return number_list();
    std::uint32_t few = 0, end = count_;
    while (end - few > 1) {
      const std::uint32_t middle = few + (end - few) / 2;
      (has_n(0, middle) ? end : few) = middle;
    }
    std::uint32_t begin = 0, late = end;
    while (late - begin > 1) {
      const std::uint32_t middle = begin + (late - begin) / 2;
      (has_n(middle, end) ? begin : late) = middle;
    }
    return n_between(begin, end - 1);
  }

 private:
  template <class Action>
  void for_each_after(std::uint32_t item, std::uint32_t end, Action act) const {
    for (const std::uint32_t* e = out_.first(item); e != out_.last(item); ++e) {
      if (edges_[*e].to < end) act(edges_[*e].to);
    }
  }
  template <class Action>
  void for_each_before(std::uint32_t item, std::uint32_t begin, Action act) const {
    for (const std::uint32_t* e = in_.first(item); e != in_.last(item); ++e) {
      if (edges_[*e].from >= begin) act(edges_[*e].from);
    }
  }

  /// Among the items from `begin` on, before `end`. Numbers begin at 0 there.
  bool has_n(std::uint32_t begin, std::uint32_t end) const {
    const std::uint32_t count = end - begin, source = count, sink = count + 1;
    if (count < 4) return false;
    number_list first(count, sink), ends_block(count, source);
    growing_array<std::uint64_t> beginnings(count, 0), endings(count, 0), kept(count, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      for_each_after(begin + i, end, [&](std::uint32_t to) {
        first[i] = (std::min)(first[i] == sink ? count : first[i], to - begin);
      });
      if (first[i] != sink) ++beginnings[first[i]];
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t last = no_node;
      for_each_before(begin + i, begin, [&](std::uint32_t from) {
        last = last == no_node ? from - begin : (std::max)(last, from - begin);
      });
      if (last == no_node) continue;
      ends_block[i] = first[last];
      ++endings[ends_block[i]];
    }
    number_list seen(count, no_node);  // edges may be there twice
    for (std::uint32_t i = 0; i < count; ++i) {
      for_each_after(begin + i, end, [&](std::uint32_t to) {
        if (ends_block[to - begin] != first[i] || seen[to - begin] == i) return;
        seen[to - begin] = i;
        ++kept[first[i]];
      });
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (kept[i] != beginnings[i] * endings[i]) return true;
    }
    arc_joiner parts(count + 2);
    for (std::uint32_t i = 0; i < count; ++i) parts.add_item(ends_block[i], first[i]);
    return !is_order_of(parts, begin, end);
  }

  bool is_order_of(arc_joiner& parts, std::uint32_t begin, std::uint32_t end) const {
    const std::uint32_t items = end - begin, whole = parts.join();
    if (whole == no_node) return false;
    number_list forward(items, 0), turned(items, 0);
    parts.order(whole, false, forward);
    parts.order(whole, true, turned);
    bool all = true;
    for (std::uint32_t i = 0; i < items; ++i) {
      for_each_after(begin + i, end, [&](std::uint32_t to) {
        all = all && forward[i] < forward[to - begin] && turned[i] < turned[to - begin];
      });
    }
    return all;
  }

  /// That has both. The first is a or b, the last c or d.
  number_list n_between(std::uint32_t first, std::uint32_t last) const {
    growing_array<bool> above(last + 1, false), below(last + 1, false);
    above[first] = below[last] = true;
    for (std::uint32_t i = first; i <= last; ++i) {
      if (above[i]) for_each_after(i, last + 1, [&](std::uint32_t to) { above[to] = true; });
    }
    for (std::uint32_t i = last + 1; i-- > first;) {
      if (below[i]) for_each_before(i, first, [&](std::uint32_t from) { below[from] = true; });
    }
    // Who else may be: after the first or not, before the last or not.
    const auto those = [&](bool is_above, bool is_below) {
      growing_array<bool> chosen(last + 1, false);
      for (std::uint32_t i = first + 1; i < last; ++i) {
        chosen[i] = above[i] == is_above && below[i] == is_below;
      }
      return chosen;
    };
    pair found;
    if (!above[last]) {
      found = ordered_pair(those(false, true), those(true, false), first, last);
      return {first, found.from, found.to, last};
    }
    found = ordered_pair(those(false, true), those(false, false), first, last);
    if (found.to != no_node) return {first, found.from, last, found.to};
    found = ordered_pair(those(false, false), those(true, false), first, last);
    if (found.to != no_node) return {found.from, first, found.to, last};
    found = other_pair(those(false, true), those(true, false), first, last);
    return {found.from, first, last, found.to};
  }

  struct pair {
    std::uint32_t from = no_node, to = no_node;
  };
  /// One of the first before one of the second.
  pair ordered_pair(const growing_array<bool>& from, const growing_array<bool>& to,
                    std::uint32_t first, std::uint32_t last) const {
    number_list origin(last + 1, no_node);
    for (std::uint32_t i = first; i <= last; ++i) {
      if (from[i]) origin[i] = i;
      if (origin[i] == no_node) continue;
      if (to[i]) return made_of(origin[i], i);
      for_each_after(i, last + 1, [&](std::uint32_t next) { origin[next] = origin[i]; });
    }
    return pair();
  }
  /// One of the first not before one of the second: 64 of the first at a time.
  pair other_pair(const growing_array<bool>& from, const growing_array<bool>& to,
                  std::uint32_t first, std::uint32_t last) const {
    for (std::uint32_t next = first; next <= last;) {
      growing_array<std::uint64_t> reached(last + 1, 0);
      number_list sources;
      for (; next <= last && sources.size() < 64; ++next) {
        if (!from[next]) continue;
        reached[next] = std::uint64_t{1} << sources.size();
        sources.push_back(next);
      }
      if (sources.empty()) break;
      const std::uint64_t all = ~std::uint64_t{0} >> (64 - sources.size());
      for (std::uint32_t i = first; i <= last; ++i) {
        if (to[i] && reached[i] != all) {
          std::size_t missed = 0;
          while ((reached[i] >> missed & 1u) != 0) ++missed;
          return made_of(sources[missed], i);
        }
        for_each_after(i, last + 1, [&](std::uint32_t after) { reached[after] |= reached[i]; });
      }
    }
    return pair();
  }
  static pair made_of(std::uint32_t from, std::uint32_t to) noexcept {
    pair made;
    made.from = from;
    made.to = to;
    return made;
  }

  const std::uint32_t count_;
  const growing_array<model_edge>& edges_;
  const adjacency out_, in_;
};

LOCKSTEP_INLINE std::string where_not_series_parallel(const graph_model& of, const flow& checked) {
  const std::uint32_t nodes = static_cast<std::uint32_t>(of.nodes.size());
  number_list place(checked.item_order.size());
  for (std::uint32_t at = 0; at < place.size(); ++at) place[checked.item_order[at]] = at;
  growing_array<model_edge> edges;
  edges.reserve(checked.item_edges.size());
  // Blocks have nothing to do with each other: all of them at once.
  for (const item_edge& each : checked.item_edges) {
    edges.push_back({place[each.from], place[each.to], edge_kind::plain});
  }
  const number_list n = ordered_items(place.size(), edges).find_n();
  if (n.empty()) return std::string();
  const auto name = [&](std::size_t k) {
    const std::uint32_t item = checked.item_order[n[k]];
    return item < nodes
               ? quoted(of, item)
               : "the loop that " + quoted(of, checked.blocks[item - nodes].from) + " decides";
  };
  return name(0) + " and " + name(1) + " come before " + name(2) + ", and " + name(1) + " before " +
         name(3) + ", but " + name(0) + " does not";
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
