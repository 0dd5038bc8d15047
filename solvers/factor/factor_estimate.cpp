#include <algorithm>
#include <cmath>
#include <cstdint>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

using Vertices = std::vector<std::int32_t>;

/// A vertex with more neighbours than this, in units of √n, is eliminated last.
constexpr double kDenseRow = 10;

/// Parts of up to this size are not split.
constexpr Index kSmallPart = 4;

/// A split leaves at most this share of the vertices in one part, so that the sizes of the visited
/// parts fall geometrically.
constexpr double kLargestShare = 0.9;

/// The side away from the start of the search is followed if it has at least this share of the
/// other side's vertices.
constexpr double kAboutAsLarge = 0.8;

/// The entries and operations of a part with m vertices grow with m to these powers, as they do
/// between regular grids in two and in three dimensions.
constexpr double kEntriesPower = 1.2;
constexpr double kOperationsPower = 1.5;

/// A part of the graph. The vertices 0, …, size − 1 are its own. Larger numbers stand for the
/// `boundary` neighbours in earlier separators, whose own neighbours are not stored.
struct Part {
  std::vector<std::int64_t> offsets = {0};
  Vertices neighbours;
  Index boundary = 0;

  Index size() const { return std::ssize(offsets) - 1; }
  std::int64_t begin(Index v) const { return offsets[static_cast<std::size_t>(v)]; }
  std::int64_t end(Index v) const { return offsets[static_cast<std::size_t>(v) + 1]; }
  Index degree(Index v) const { return end(v) - begin(v); }
  std::int32_t neighbour(std::int64_t e) const { return neighbours[static_cast<std::size_t>(e)]; }
};

/// The graph of A and B.
Part graph_of(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B) {
  Part graph;
  graph.offsets.reserve(static_cast<std::size_t>(A.rows) + 1);
  graph.neighbours.reserve(static_cast<std::size_t>(A.nnz));
  Vertices last_row(static_cast<std::size_t>(A.rows), -1);  // whose neighbour a vertex has become
  for (Index i = 0; i < A.rows; ++i) {
    const auto row = static_cast<std::int32_t>(i);
    last_row[static_cast<std::size_t>(i)] = row;
    for (const CsrView<double, HostSpace>* M : {&A, &B}) {
      if (M->rows == 0) continue;
      for (std::int64_t e = M->row_offsets[i]; e < M->row_offsets[i + 1]; ++e) {
        const std::int32_t j = M->columns[e];
        if (std::exchange(last_row[static_cast<std::size_t>(j)], row) != row) {
          graph.neighbours.push_back(j);
        }
      }
    }
    graph.offsets.push_back(std::ssize(graph.neighbours));
  }
  return graph;
}

constexpr std::int32_t kUnnumbered = -1;
constexpr std::int32_t kEliminated = -2;

/// The part that consists of `vertices`, numbered in this order. Their other neighbours become its
/// boundary, except those that are kEliminated in `number`. The other numbers must be kUnnumbered.
Part restricted(const Part& part, const Vertices& vertices, Vertices number) {
  std::int32_t next = 0;
  for (const std::int32_t v : vertices) number[static_cast<std::size_t>(v)] = next++;
  Part result;
  result.offsets.reserve(vertices.size() + 1);
  for (const std::int32_t v : vertices) {
    for (std::int64_t e = part.begin(v); e < part.end(v); ++e) {
      std::int32_t& k = number[static_cast<std::size_t>(part.neighbour(e))];
      if (k == kEliminated) continue;
      if (k == kUnnumbered) k = next++;
      result.neighbours.push_back(k);
    }
    result.offsets.push_back(std::ssize(result.neighbours));
  }
  result.boundary = next - result.size();
  return result;
}

Vertices unnumbered(const Part& part) {
  return Vertices(static_cast<std::size_t>(part.size() + part.boundary), kUnnumbered);
}

/// A connected component of a part, by its distances from a vertex.
struct Levels {
  Vertices vertices;         // by levels
  std::vector<Index> begin;  // of each level in `vertices`; the last is their number
  std::vector<Index> rim;    // vertices of each level with a neighbour in the next one

  Index count() const { return std::ssize(rim); }
  Index size() const { return std::ssize(vertices); }
};

constexpr std::int32_t kUnseen = -1;

/// The component of `start`. `level_of`: kUnseen for the component's vertices, which get the number
/// of their level.
Levels levels_from(const Part& part, Index start, Vertices& level_of) {
  Levels found;
  found.vertices.assign(1, static_cast<std::int32_t>(start));
  level_of[static_cast<std::size_t>(start)] = 0;
  for (Index at = 0; at < found.size();) {
    const auto next = static_cast<std::int32_t>(found.begin.size()) + 1;
    found.begin.push_back(at);
    Index rim = 0;
    for (const Index end = found.size(); at < end; ++at) {
      const std::int32_t v = found.vertices[static_cast<std::size_t>(at)];
      bool in_rim = false;
      for (std::int64_t e = part.begin(v); e < part.end(v); ++e) {
        const std::int32_t u = part.neighbour(e);
        if (u >= part.size()) continue;
        std::int32_t& level = level_of[static_cast<std::size_t>(u)];
        if (level == kUnseen) {
          level = next;
          found.vertices.push_back(u);
        }
        in_rim |= level == next;
      }
      rim += in_rim ? 1 : 0;
    }
    found.rim.push_back(rim);
  }
  found.begin.push_back(found.size());
  return found;
}

/// A split of a component by the rim of a level. `below` holds the rest of the level and the levels
/// before it, `above` the levels after it.
struct Split {
  Index level;
  double separator;
  double below;
  double above;
};

/// The split with the smallest separator relative to the smaller part. Nothing if none splits off
/// enough.
std::optional<Split> best_split(const Levels& levels) {
  const auto all = static_cast<double>(levels.size());
  std::optional<Split> best;
  double least = std::numeric_limits<double>::infinity();
  for (Index k = 0; k + 1 < levels.count(); ++k) {
    const auto rim = static_cast<double>(levels.rim[static_cast<std::size_t>(k)]);
    const auto end = static_cast<double>(levels.begin[static_cast<std::size_t>(k) + 1]);
    const Split split{k, rim, end - rim, all - end};
    if (std::max(split.below, split.above) > kLargestShare * all) continue;
    const double ratio = rim / (0.5 + std::min(split.below, split.above));
    if (ratio < least) {
      least = ratio;
      best = split;
    }
  }
  return best;
}

/// The vertices of one side of a split.
Vertices side(const Part& part, const Levels& levels, const Vertices& level_of, const Split& split,
              bool above) {
  const auto level = static_cast<std::size_t>(split.level);
  const auto at = [&](std::size_t k) { return levels.vertices.begin() + levels.begin[k]; };
  if (above) return {at(level + 1), levels.vertices.end()};
  const auto is_above = [&](std::int32_t u) {
    return u < part.size() && level_of[static_cast<std::size_t>(u)] > split.level;
  };
  Vertices result(levels.vertices.begin(), at(level));
  std::copy_if(at(level), at(level + 1), std::back_inserter(result), [&](std::int32_t v) {
    return std::none_of(part.neighbours.begin() + part.begin(v),
                        part.neighbours.begin() + part.end(v), is_above);
  });
  return result;
}

/// Adds up the cost of fronts while a branch of the dissection is followed.
class Sum {
 public:
  /// The elimination of `s` vertices that have become neighbours of each other and of `b` others.
  void add_front(double s, double b) {
    cost_.entries += entries_scale_ * s * (b + (s + 1) / 2);
    cost_.operations += operations_scale_ * s * (b * (b + s + 1) + (s + 1) * (2 * s + 1) / 6);
  }

  /// From now on, one of several parts stands for all. `size`: its number of vertices.
  void follow(double size, const std::vector<double>& all) {
    double entries = 0, operations = 0;
    for (const double other : all) {
      entries += std::pow(other / size, kEntriesPower);
      operations += std::pow(other / size, kOperationsPower);
    }
    entries_scale_ *= entries;
    operations_scale_ *= operations;
  }

  const FactorCost& cost() const { return cost_; }

 private:
  FactorCost cost_;
  double entries_scale_ = 1;
  double operations_scale_ = 1;
};

/// The graph without the vertices that can be eliminated without fill because they have at most one
/// neighbour left, and with very dense rows as its boundary.
Part core_of(Part graph, Sum& sum) {
  const Index n = graph.size();
  const double most = std::max(16.0, kDenseRow * std::sqrt(static_cast<double>(n)));
  Vertices number = unnumbered(graph), left(static_cast<std::size_t>(n)), queue;
  for (Index v = 0; v < n; ++v) {
    left[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(graph.degree(v));
    if (graph.degree(v) <= 1) queue.push_back(static_cast<std::int32_t>(v));
  }
  while (!queue.empty()) {
    const std::int32_t v = queue.back();
    queue.pop_back();
    sum.add_front(1, left[static_cast<std::size_t>(v)]);
    number[static_cast<std::size_t>(v)] = kEliminated;
    for (std::int64_t e = graph.begin(v); e < graph.end(v); ++e) {
      const auto u = static_cast<std::size_t>(graph.neighbour(e));
      if (number[u] != kEliminated && --left[u] == 1) queue.push_back(graph.neighbour(e));
    }
  }
  Vertices core;
  double dense = 0;
  for (Index v = 0; v < n; ++v) {
    if (number[static_cast<std::size_t>(v)] == kEliminated) continue;
    if (static_cast<double>(graph.degree(v)) > most) {
      ++dense;
    } else {
      core.push_back(static_cast<std::int32_t>(v));
    }
  }
  if (std::ssize(core) == n) return graph;
  sum.add_front(dense, 0);
  return restricted(graph, core, std::move(number));
}

/// The largest component, from a vertex far from the others.
Levels largest_component(const Part& part, Vertices& level_of, Sum& sum) {
  level_of.assign(static_cast<std::size_t>(part.size()), kUnseen);
  Levels largest;
  std::vector<double> sizes;
  for (Index v = 0; v < part.size(); ++v) {
    if (level_of[static_cast<std::size_t>(v)] != kUnseen) continue;
    Levels levels = levels_from(part, v, level_of);
    sizes.push_back(static_cast<double>(levels.size()));
    if (levels.size() > largest.size()) largest = std::move(levels);
  }
  sum.follow(static_cast<double>(largest.size()), sizes);
  for (const std::int32_t v : largest.vertices) level_of[static_cast<std::size_t>(v)] = kUnseen;
  return levels_from(part, largest.vertices.back(), level_of);
}

}  // namespace

FactorCost estimate_factor_cost(const CsrView<double, HostSpace>& A,
                                const CsrView<double, HostSpace>& B) {
  Sum sum;
  Part part = core_of(graph_of(A, B), sum);
  Vertices level_of;
  while (part.size() > kSmallPart) {
    const Levels levels = largest_component(part, level_of, sum);
    const std::optional<Split> split = best_split(levels);
    if (!split) {
      part = restricted(part, levels.vertices, unnumbered(part));
      break;
    }
    sum.add_front(split->separator, static_cast<double>(part.boundary));
    const bool above = split->above > kAboutAsLarge * split->below;
    sum.follow(above ? split->above : split->below, {split->below, split->above});
    part = restricted(part, side(part, levels, level_of, *split, above), unnumbered(part));
  }
  sum.add_front(static_cast<double>(part.size()), static_cast<double>(part.boundary));
  return sum.cost();
}

}  // namespace heddle::detail
