// SPDX-License-Identifier: MIT
// lockstep/detail/graph/series_parallel.ipp -- the bodies of series_parallel.hpp (layer: graph)
#ifndef LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP
#define LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP

#include "series_parallel.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Which items of a block come before which, and how the block falls into parts.
class block_order {
 public:
  /// `before(a, b)`: edges; items are numbered so that edges go forward.
  LOCKSTEP_COLD block_order(std::size_t count, const growing_array<model_edge>& edges)
      : count_(count), words_((count + 63) / 64), before_(count * words_, 0) {
    const adjacency in = edges_by(edges, count, true);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t* e = in.first(i); e != in.last(i); ++e) {
        const std::size_t from = edges[*e].from;
        for (std::size_t w = 0; w < words_; ++w) row(i)[w] |= row(from)[w];
        row(i)[from / 64] |= std::uint64_t{1} << (from % 64);
      }
    }
  }

  bool comes_before(std::size_t a, std::size_t b) const noexcept {
    return (before_[b * words_ + a / 64] >> (a % 64) & 1u) != 0;
  }
  bool is_ordered(std::size_t a, std::size_t b) const noexcept {
    return comes_before(a, b) || comes_before(b, a);
  }

  /// a, b, c, d of an N; empty if there is none.
  LOCKSTEP_COLD growing_array<std::uint32_t> find_n() const {
    growing_array<growing_array<std::uint32_t>> open(1);
    for (std::uint32_t i = 0; i < count_; ++i) open[0].push_back(i);
    while (!open.empty()) {
      const growing_array<std::uint32_t> part = open.back();
      open.pop_back();
      if (part.size() < 4) continue;
      const std::size_t before = open.size();
      if (fall_apart(part, true, open) || fall_apart(part, false, open)) continue;
      open.resize(before);
      return n_in(part);
    }
    return growing_array<std::uint32_t>();
  }

 private:
  std::uint64_t* row(std::size_t of) noexcept { return &before_[of * words_]; }

  /// The parts that are connected by pairs that are ordered, or that are not. False if there is only one.
  LOCKSTEP_COLD bool fall_apart(const growing_array<std::uint32_t>& part, bool by_order,
                                growing_array<growing_array<std::uint32_t>>& into) const {
    growing_array<std::uint32_t> left = part;
    const std::size_t before = into.size();
    while (!left.empty()) {
      growing_array<std::uint32_t> found(1, left.back());
      left.pop_back();
      for (std::size_t at = 0; at < found.size(); ++at) {
        for (std::size_t i = 0; i < left.size();) {
          if (is_ordered(found[at], left[i]) != by_order) {
            ++i;
            continue;
          }
          found.push_back(left[i]);
          left[i] = left.back();
          left.pop_back();
        }
      }
      into.push_back(found);
    }
    if (into.size() > before + 1) return true;
    into.resize(before);
    return false;
  }

  LOCKSTEP_COLD growing_array<std::uint32_t> n_in(const growing_array<std::uint32_t>& part) const {
    for (const std::uint32_t c : part) {
      for (const std::uint32_t d : part) {
        if (c == d || is_ordered(c, d)) continue;
        for (const std::uint32_t b : part) {
          if (!comes_before(b, c) || !comes_before(b, d)) continue;
          for (const std::uint32_t a : part) {
            if (comes_before(a, c) && !is_ordered(a, d) && !is_ordered(a, b)) return {a, b, c, d};
          }
        }
      }
    }
    return growing_array<std::uint32_t>();
  }

  const std::size_t count_, words_;
  growing_array<std::uint64_t> before_;
};

LOCKSTEP_COLD std::string where_not_series_parallel(const graph_model& of, const flow& checked) {
  const std::uint32_t nodes = static_cast<std::uint32_t>(of.nodes.size());
  for (std::uint32_t block = 0; block < checked.blocks.size(); ++block) {
    // The items of the block, by their first node in the order.
    growing_array<std::uint32_t> number(nodes + checked.blocks.size(), no_node);
    growing_array<std::string> names;
    const auto item_of = [&](node_index node) {
      std::uint32_t at = checked.block_of[node], item = node;
      while (at != block && at != 0) {
        item = nodes + at;
        at = checked.blocks[at].parent;
      }
      return at == block ? item : no_node;
    };
    for (const node_index node : checked.order) {
      const std::uint32_t item = item_of(node);
      if (item == no_node || number[item] != no_node) continue;
      number[item] = 0;  // known; the order of items is found below
    }
    growing_array<model_edge> edges;
    for (const model_edge& each : checked.edges) {
      const std::uint32_t from = item_of(each.from), to = item_of(each.to);
      if (from == no_node || to == no_node || from == to) continue;
      edges.push_back({from, to, edge_kind::plain});
    }
    // Items in an order of their own: a loop comes after all that one of its nodes comes after.
    const adjacency out = edges_by(edges, number.size(), false),
                    in = edges_by(edges, number.size(), true);
    growing_array<std::uint32_t> order, missing(number.size(), 0);
    for (std::uint32_t item = 0; item < number.size(); ++item) {
      missing[item] = in.begin[item + 1] - in.begin[item];
      if (number[item] == 0 && missing[item] == 0) order.push_back(item);
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
      number[order[at]] = static_cast<std::uint32_t>(at);
      names.push_back(order[at] < nodes
                          ? quoted(of, order[at])
                          : "the loop that " + quoted(of, checked.blocks[order[at] - nodes].from) +
                                " decides");
      for (const std::uint32_t* e = out.first(order[at]); e != out.last(order[at]); ++e) {
        if (--missing[edges[*e].to] == 0) order.push_back(edges[*e].to);
      }
    }
    for (model_edge& each : edges) each = {number[each.from], number[each.to], each.kind};
    const growing_array<std::uint32_t> n = block_order(order.size(), edges).find_n();
    if (n.empty()) continue;
    return names[n[0]] + " and " + names[n[1]] + " come before " + names[n[2]] + ", and " +
           names[n[1]] + " before " + names[n[3]] + ", but " + names[n[0]] + " does not";
  }
  return std::string();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_GRAPH_SERIES_PARALLEL_IPP
