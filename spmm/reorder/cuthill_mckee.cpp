#include <algorithm>
#include <heddle/spmm/reorder/cuthill_mckee.hpp>

namespace heddle::detail {
namespace {

class Levels {
 public:
  /// Searches pass over nodes that are `seen`.
  Levels(const NodeGraph& graph, const std::vector<char>& seen)
      : graph_(graph), seen_(seen), level_(at(graph.nodes()), -1) {}

  /// A node with a long shortest path to `start`'s end: that of least degree in the last level of
  /// a search from a node that was found so.
  std::int32_t far_end(std::int32_t start) {
    constexpr int kSearches = 3;
    std::int32_t depth = -1;
    for (int k = 0; k < kSearches; ++k) {
      const auto [end, found] = search(start);
      if (found <= depth) break;
      depth = found;
      start = end;
    }
    return start;
  }

 private:
  struct End {
    std::int32_t node;
    std::int32_t depth;
  };

  End search(std::int32_t start) {
    queue_.assign(1, start);
    level_[at(start)] = 0;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::int32_t u = queue_[head];
      for (std::int64_t e = graph_.offsets[at(u)]; e < graph_.offsets[at(u) + 1]; ++e) {
        const std::int32_t v = graph_.neighbours[at(e)];
        if (level_[at(v)] >= 0 || seen_[at(v)] != 0) continue;
        level_[at(v)] = level_[at(u)] + 1;
        queue_.push_back(v);
      }
    }
    End end{queue_.back(), level_[at(queue_.back())]};
    for (const std::int32_t u : queue_) {
      if (level_[at(u)] == end.depth && graph_.degree(u) < graph_.degree(end.node)) end.node = u;
    }
    for (const std::int32_t u : queue_) level_[at(u)] = -1;
    return end;
  }

  const NodeGraph& graph_;
  const std::vector<char>& seen_;
  std::vector<std::int32_t> level_;
  std::vector<std::int32_t> queue_;
};

}  // namespace

std::vector<std::int32_t> reverse_cuthill_mckee(const NodeGraph& graph) {
  std::vector<char> seen(at(graph.nodes()), 0);
  Levels levels(graph, seen);
  std::vector<std::int32_t> order;
  order.reserve(seen.size());
  for (std::int32_t first = 0; first < graph.nodes();) {
    if (seen[at(first)] != 0) {
      ++first;
      continue;
    }
    // In a graph with edges of one direction, the end that is found may not lead back to `first`.
    std::size_t head = order.size();
    order.push_back(levels.far_end(first));
    seen[at(order.back())] = 1;
    for (; head < order.size(); ++head) {
      const std::int32_t u = order[head];
      const auto children = static_cast<std::ptrdiff_t>(order.size());
      for (std::int64_t e = graph.offsets[at(u)]; e < graph.offsets[at(u) + 1]; ++e) {
        const std::int32_t v = graph.neighbours[at(e)];
        if (seen[at(v)] != 0) continue;
        seen[at(v)] = 1;
        order.push_back(v);
      }
      std::stable_sort(
          order.begin() + children, order.end(),
          [&graph](std::int32_t a, std::int32_t b) { return graph.degree(a) < graph.degree(b); });
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace heddle::detail
