#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/filled_buffer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/connections.hpp>
#include <numeric>
#include <vector>

namespace heddle::detail {
namespace {

/// The norms of the blocks of one node's rows.
class BlockRow {
 public:
  BlockRow(const Grid<HostSpace>& grid, const Buffer<std::int32_t, HostSpace>& of_row)
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
  const Buffer<std::int64_t, HostSpace>& nodes_;
  const Buffer<std::int32_t, HostSpace>& of_row_;
  std::vector<double> squares_;  // −1: no entry
  std::vector<std::size_t> touched_;
};

/// Calls body(I, row) for all nodes on all threads, with the blocks of the rows of I in `row`.
template <class Body>
void for_each_node(HostContext& context, const Grid<HostSpace>& grid,
                   const Buffer<std::int32_t, HostSpace>& of_row, const Body& body) {
  constexpr Index kNodes = 4096;  // a thread takes this many at once
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

/// The norms of the blocks of all nodes, a row per node.
HostCsrMatrix<double> block_norms(HostContext& context, const Grid<HostSpace>& grid) {
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  const Buffer<std::int32_t, HostSpace> of_row = node_of_rows(context, grid);
  Buffer<std::int64_t, HostSpace> offsets(context, nodes + 1);
  offsets[0] = 0;
  for_each_node(context, grid, of_row, [&](std::size_t I, const BlockRow& row) {
    offsets[I + 1] = std::ssize(row.touched());
  });
  std::partial_sum(offsets.data(), offsets.data() + nodes + 1, offsets.data());
  HostCsrMatrix<double> norms(context, grid.node_count(), grid.node_count(), offsets[nodes]);
  std::copy_n(offsets.data(), nodes + 1, norms.row_offsets());
  for_each_node(context, grid, of_row, [&](std::size_t I, const BlockRow& row) {
    std::int64_t e = offsets[I];
    for (const std::size_t J : row.touched()) {
      norms.columns()[e] = static_cast<std::int32_t>(J);
      norms.values()[e++] = row.norm(J);
    }
  });
  return norms;
}

/// The weights of all connections, in the places of the entries of N, which holds the norms of
/// blocks up to their signs.
struct Weights {
  Buffer<float, HostSpace> values;
  Buffer<float, HostSpace> largest;  ///< of the connections of each node
};

Weights weights_of(HostContext& context, int threads, CsrView<double, HostSpace> N) {
  const Buffer<double, HostSpace> diagonal = extract_diagonal<double>(context, N);
  Weights weights{{context, static_cast<std::size_t>(N.nnz)},
                  filled(context, static_cast<std::size_t>(N.rows), 0.0F)};
  parallel_for(threads, N.rows, [&](Index I) {
    const auto i = static_cast<std::size_t>(I);
    const double of_node = std::abs(diagonal[i]);
    for (std::int64_t e = N.row_offsets[I]; e < N.row_offsets[I + 1]; ++e) {
      float& weight = weights.values[static_cast<std::size_t>(e)] = 0;
      if (N.columns[e] == I) continue;
      const auto j = static_cast<std::size_t>(N.columns[e]);
      const double scale = std::sqrt(of_node * std::abs(diagonal[j]));
      weight = static_cast<float>(scale > 0 ? std::abs(N.values[e]) / scale : 1.0);
      weights.largest[i] = std::max(weights.largest[i], weight);
    }
  });
  return weights;
}

}  // namespace

NodeGraph<HostSpace> strong_connections(HostContext& context, const Grid<HostSpace>& grid,
                                        double threshold) {
  HostCsrMatrix<double> norms;
  if (!grid.nodes_are_rows()) norms = block_norms(context, grid);
  const CsrView<double, HostSpace> N = grid.nodes_are_rows() ? grid.A.view() : norms.view();
  const int threads = team_size(context.threads(), static_cast<double>(N.nnz) * sizeof(double), 0);
  const Weights weights = weights_of(context, threads, N);
  const auto for_each_strong = [&](Index I, const auto& visit) {
    const float of_node = weights.largest[static_cast<std::size_t>(I)];
    for (std::int64_t e = N.row_offsets[I]; e < N.row_offsets[I + 1]; ++e) {
      const float weight = weights.values[static_cast<std::size_t>(e)];
      const float least =
          std::min(of_node, weights.largest[static_cast<std::size_t>(N.columns[e])]);
      if (weight > 0 && weight > static_cast<float>(threshold) * least) visit(N.columns[e], weight);
    }
  };
  NodeGraph<HostSpace> strong;
  strong.offsets = {context, static_cast<std::size_t>(N.rows) + 1};
  strong.offsets[0] = 0;
  parallel_for(threads, N.rows, [&](Index I) {
    std::int64_t count = 0;
    for_each_strong(I, [&](std::int32_t, float) { ++count; });
    strong.offsets[static_cast<std::size_t>(I) + 1] = count;
  });
  std::int64_t* const offsets = strong.offsets.data();
  std::partial_sum(offsets, offsets + N.rows + 1, offsets);
  const auto edges = static_cast<std::size_t>(offsets[N.rows]);
  strong.neighbours = {context, edges};
  strong.weights = {context, edges};
  parallel_for(threads, N.rows, [&](Index I) {
    auto e = static_cast<std::size_t>(strong.offsets[static_cast<std::size_t>(I)]);
    for_each_strong(I, [&](std::int32_t J, float weight) {
      strong.neighbours[e] = J;
      strong.weights[e++] = weight;
    });
  });
  return strong;
}

}  // namespace heddle::detail
