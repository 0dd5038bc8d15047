#include <algorithm>
#include <cmath>
#include <heddle/solvers/preconditioners/multigrid/connections.hpp>

namespace heddle::detail {
namespace {

/// The squared norms of the blocks of one node's rows.
class BlockRow {
 public:
  explicit BlockRow(const Grid& grid)
      : A_(grid.A.view()),
        nodes_(grid.nodes),
        of_row_(node_of_rows(grid)),
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
    std::sort(touched_.begin(), touched_.end());
  }

  const std::vector<std::size_t>& touched() const noexcept { return touched_; }
  double norm(std::size_t node) const { return std::sqrt(std::max(0.0, squares_[node])); }

 private:
  CsrView<double, HostSpace> A_;
  const std::vector<std::int64_t>& nodes_;
  std::vector<std::int32_t> of_row_;
  std::vector<double> squares_;  // −1: no entry
  std::vector<std::size_t> touched_;
};

/// The connections whose weight exceeds `threshold` times the smaller one of the largest weights of
/// both nodes.
NodeGraph filtered(const NodeGraph& all, const std::vector<float>& largest, float threshold) {
  NodeGraph strong;
  strong.offsets.push_back(0);
  for (std::size_t I = 0; I < largest.size(); ++I) {
    for (auto e = static_cast<std::size_t>(all.offsets[I]);
         e < static_cast<std::size_t>(all.offsets[I + 1]); ++e) {
      const auto J = static_cast<std::size_t>(all.neighbours[e]);
      if (!(all.weights[e] > threshold * std::min(largest[I], largest[J]))) continue;
      strong.neighbours.push_back(all.neighbours[e]);
      strong.weights.push_back(all.weights[e]);
    }
    strong.offsets.push_back(static_cast<std::int64_t>(strong.neighbours.size()));
  }
  return strong;
}

}  // namespace

NodeGraph strong_connections(const Grid& grid, double threshold) {
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  BlockRow row(grid);
  std::vector<double> diagonal(nodes);
  for (std::size_t I = 0; I < nodes; ++I) {
    row.read(I);
    diagonal[I] = row.norm(I);
  }
  NodeGraph all;
  std::vector<float> largest(nodes, 0.0F);
  all.offsets.push_back(0);
  for (std::size_t I = 0; I < nodes; ++I) {
    row.read(I);
    for (const std::size_t J : row.touched()) {
      const double scale = std::sqrt(diagonal[I] * diagonal[J]);
      const auto weight = static_cast<float>(scale > 0 ? row.norm(J) / scale : 1.0);
      if (J == I || !(weight > 0)) continue;
      all.neighbours.push_back(static_cast<std::int32_t>(J));
      all.weights.push_back(weight);
      largest[I] = std::max(largest[I], weight);
    }
    all.offsets.push_back(static_cast<std::int64_t>(all.neighbours.size()));
  }
  return filtered(all, largest, static_cast<float>(threshold));
}

}  // namespace heddle::detail
