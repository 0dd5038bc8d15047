#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/solvers/preconditioners/multigrid/connections.hpp>

namespace heddle::detail {
namespace {

/// The norms of the blocks of one node's rows.
class BlockRow {
 public:
  BlockRow(const Grid<HostSpace>& grid, const std::vector<std::int32_t>& of_row)
      : A_(grid.A.view()),
        nodes_(grid.nodes),
        of_row_(of_row),
        squares_(static_cast<std::size_t>(grid.node_count()), -1) {}

  void read(std::size_t node) {
    for (const std::size_t J : touched_) squares_[J] = -1;
    touched_.clear();
    const std::int64_t end = A_.row_offsets[nodes_[node + 1]];
    for (std::int64_t e = A_.row_offsets[nodes_[node]]; e < end; ++e) {
      const auto J = static_cast<std::size_t>(of_row_[static_cast<std::size_t>(A_.columns[e])]);
      double& square = squares_[J];
      if (square < 0) {
        square = 0;
        touched_.push_back(J);
      }
      square += A_.values[e] * A_.values[e];
    }
    const bool one_row = nodes_[node + 1] - nodes_[node] == 1;  // its columns ascend
    if (!one_row) std::sort(touched_.begin(), touched_.end());
  }

  const std::vector<std::size_t>& touched() const noexcept { return touched_; }
  double norm(std::size_t node) const { return std::sqrt(std::max(0.0, squares_[node])); }

 private:
  CsrView<double, HostSpace> A_;
  const std::vector<std::int64_t>& nodes_;
  const std::vector<std::int32_t>& of_row_;
  std::vector<double> squares_;  // −1: no entry
  std::vector<std::size_t> touched_;
};

/// Calls body(I, row) for all nodes on all threads, with the blocks of the rows of I in `row`.
template <class Body>
void for_each_node(HostContext& context, const Grid<HostSpace>& grid,
                   const std::vector<std::int32_t>& of_row, const Body& body) {
  constexpr Index kNodes = 4096;  // a thread takes so many at once
  const Index nodes = grid.node_count();
  const Index parts = (nodes + kNodes - 1) / kNodes;
  const int threads = static_cast<int>(std::min<Index>(context.threads(), parts));
  std::vector<BlockRow> rows(static_cast<std::size_t>(std::max(threads, 1)),
                             BlockRow(grid, of_row));
  parallel_for(threads, parts, [&](Index part, int member) {
    BlockRow& row = rows[static_cast<std::size_t>(member)];
    const Index end = std::min(nodes, (part + 1) * kNodes);
    for (Index I = part * kNodes; I < end; ++I) {
      row.read(static_cast<std::size_t>(I));
      body(static_cast<std::size_t>(I), row);
    }
  });
}

/// The weights of all connections.
struct Weights {
  std::vector<double> diagonal;  ///< ‖A_II‖
  std::vector<float> largest;    ///< of the connections of each node

  float of(std::size_t I, std::size_t J, const BlockRow& row) const {
    const double scale = std::sqrt(diagonal[I] * diagonal[J]);
    return I == J ? 0 : static_cast<float>(scale > 0 ? row.norm(J) / scale : 1.0);
  }
};

}  // namespace

NodeGraph<HostSpace> strong_connections(HostContext& context, const Grid<HostSpace>& grid,
                                        double threshold) {
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  const std::vector<std::int32_t> of_row = node_of_rows(grid);
  Weights weights{std::vector<double>(nodes), std::vector<float>(nodes, 0.0F)};
  for_each_node(context, grid, of_row,
                [&](std::size_t I, const BlockRow& row) { weights.diagonal[I] = row.norm(I); });
  for_each_node(context, grid, of_row, [&](std::size_t I, const BlockRow& row) {
    for (const std::size_t J : row.touched()) {
      weights.largest[I] = std::max(weights.largest[I], weights.of(I, J, row));
    }
  });
  const auto for_each_strong = [&](std::size_t I, const BlockRow& row, const auto& visit) {
    for (const std::size_t J : row.touched()) {
      const float weight = weights.of(I, J, row);
      const float least = std::min(weights.largest[I], weights.largest[J]);
      if (weight > 0 && weight > static_cast<float>(threshold) * least) visit(J, weight);
    }
  };
  NodeGraph<HostSpace> strong;
  strong.offsets.assign(nodes + 1, 0);
  for_each_node(context, grid, of_row, [&](std::size_t I, const BlockRow& row) {
    for_each_strong(I, row, [&](std::size_t, float) { ++strong.offsets[I + 1]; });
  });
  for (std::size_t I = 0; I < nodes; ++I) strong.offsets[I + 1] += strong.offsets[I];
  strong.neighbours.resize(static_cast<std::size_t>(strong.offsets.back()));
  strong.weights.resize(strong.neighbours.size());
  for_each_node(context, grid, of_row, [&](std::size_t I, const BlockRow& row) {
    auto e = static_cast<std::size_t>(strong.offsets[I]);
    for_each_strong(I, row, [&](std::size_t J, float weight) {
      strong.neighbours[e] = static_cast<std::int32_t>(J);
      strong.weights[e++] = weight;
    });
  });
  return strong;
}

}  // namespace heddle::detail
