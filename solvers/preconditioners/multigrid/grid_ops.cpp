#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/remote_copy.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kSlabEntries = 16384;

/// The threads for a pass over this many doubles.
int team_of(const HostContext& context, Index numbers) {
  return team_size(context.threads(), static_cast<double>(numbers) * sizeof(double), 0);
}

/// The binary exponents of the largest entries of the columns of X, 0 for a column of zeros.
std::vector<int> exponents(HostContext& context, ConstBlockView<double, HostSpace> X) {
  std::vector<double> largest(static_cast<std::size_t>(X.cols()), 0.0);
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      double& most = largest[static_cast<std::size_t>(j)];
      most = std::max(most, std::abs(X(i, j)));
    }
  }
  if (context.processes() != nullptr) context.processes()->largest(largest);
  std::vector<int> made(largest.size(), 0);
  for (std::size_t j = 0; j < largest.size(); ++j) {
    if (largest[j] > 0) made[j] = std::ilogb(largest[j]);
  }
  return made;
}

using Remote = RemoteColumns<double, HostSpace>;

/// `source` with the entry in row i of the matrix and column k of the halo times factor(i, k).
template <class Factor>
std::shared_ptr<const Remote> scaled_remote(HostContext& context, const Remote& source,
                                            const Factor& factor) {
  Remote scaled = copy_of<double>(context, source);
  const CsrView<double, HostSpace> view = scaled.entries.view();
  for (Index k = 0; k < view.rows; ++k) {
    const Index row = source.rows[static_cast<std::size_t>(k)];
    for (std::int64_t e = view.row_offsets[k]; e < view.row_offsets[k + 1]; ++e) {
      scaled.entries.values()[e] *= factor(row, view.columns[e]);
    }
  }
  return std::make_shared<const Remote>(std::move(scaled));
}

}  // namespace

std::optional<NegativeEntry> first_negative(HostContext&, const Buffer<double, HostSpace>& d) {
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] < 0) return NegativeEntry{static_cast<Index>(i), d[i]};
  }
  return {};
}

double symmetric_norm(HostContext& context, const DistributedCsrView<double, HostSpace>& A) {
  const Index rows = A.own.rows;
  MultiVector<double, HostSpace> sums(context, rows, 1);
  absolute_row_sums<double>(context, A, sums.view(), 0);
  double largest = 0;
  for (Index i = 0; i < rows; ++i) {
    const double sum = sums.view()(i, 0);
    if (std::isnan(sum) || sum > largest) largest = sum;
  }
  if (A.is_distributed()) context.processes()->largest({&largest, 1});
  return largest;
}

Buffer<std::int32_t, HostSpace> node_of_rows(HostContext& context, const Grid<HostSpace>& grid) {
  Buffer<std::int32_t, HostSpace> of_row(context, static_cast<std::size_t>(grid.A.rows()));
  parallel_for(team_of(context, grid.A.rows()), grid.node_count(), [&](Index node) {
    const auto k = static_cast<std::size_t>(node);
    std::fill(of_row.data() + grid.nodes[k], of_row.data() + grid.nodes[k + 1],
              static_cast<std::int32_t>(node));
  });
  return of_row;
}

Buffer<std::int64_t, HostSpace> equal_nodes(HostContext& context, Index rows, Index unknowns) {
  Buffer<std::int64_t, HostSpace> nodes(context, static_cast<std::size_t>(rows / unknowns) + 1);
  const auto count = static_cast<Index>(nodes.size());
  parallel_for(team_of(context, count), count,
               [&](Index k) { nodes[static_cast<std::size_t>(k)] = k * unknowns; });
  return nodes;
}

MultiVector<double, HostSpace> near_null_vectors(HostContext& context, Index m,
                                                 ConstBlockView<double, HostSpace> given,
                                                 const Buffer<double, HostSpace>& s) {
  const auto n = static_cast<Index>(s.size());
  const std::vector<int> scales = exponents(context, given);
  MultiVector<double, HostSpace> X(context, n, m);
  parallel_for(team_of(context, n * m), n, [&](Index i) {
    for (Index j = 0; j < m; ++j) {
      const double value = given.cols() == 0
                               ? static_cast<double>(i % m == j)
                               : std::scalbn(given(i, j), -scales[static_cast<std::size_t>(j)]);
      X.view()(i, j) = value / s.data()[i];
    }
  });
  return X;
}

void to_unit_scaling(HostContext& context, Buffer<double, HostSpace>& d) {
  double largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) largest = std::max(largest, d[i]);
  if (context.processes() != nullptr) context.processes()->largest({&largest, 1});
  for (std::size_t i = 0; i < d.size(); ++i) {
    d[i] = d[i] > kZeroDiagonal * largest ? 1 / std::sqrt(d[i]) : 1;
  }
}

double multiplications(HostContext& context, CsrView<double, HostSpace> A,
                       CsrView<double, HostSpace> P) {
  const Slabs slabs = make_slabs(A.nnz, kSlabEntries);
  std::vector<Index> sums(static_cast<std::size_t>(slabs.count()));
  parallel_for(team_of(context, A.nnz), slabs.count(), [&](Index slab) {
    Index sum = 0;
    for (Index e = slabs.begin(slab); e < slabs.end(slab); ++e) {
      const std::int32_t k = A.columns[e];
      sum += P.row_offsets[k + 1] - P.row_offsets[k];
    }
    sums[static_cast<std::size_t>(slab)] = sum;
  });
  return static_cast<double>(std::accumulate(sums.begin(), sums.end(), Index{0}));
}

void scale_coarse_side(HostContext& context, const Buffer<double, HostSpace>& s,
                       CsrMatrix<double, HostSpace>& P, CsrMatrix<double, HostSpace>& Pt,
                       BlockView<double, HostSpace> X) {
  parallel_for(team_of(context, P.nnz()), P.nnz(),
               [&](Index e) { P.values()[e] *= s.data()[P.columns()[e]]; });
  parallel_for(team_of(context, Pt.nnz()), Pt.rows(), [&](Index i) {
    for (std::int64_t e = Pt.row_offsets()[i]; e < Pt.row_offsets()[i + 1]; ++e) {
      Pt.values()[e] *= s.data()[i];
    }
    for (Index j = 0; j < X.cols(); ++j) X(i, j) /= s.data()[i];
  });
}

void scale_coarse_side(HostContext& context, const Buffer<double, HostSpace>& s,
                       DistributedCsr<double, HostSpace>& P, DistributedCsr<double, HostSpace>& Pt,
                       BlockView<double, HostSpace> X) {
  scale_coarse_side(context, s, P.own(), Pt.own(), X);
  if (!P.is_distributed()) return;
  HaloExchange<double, HostContext> exchange(context, *P.remote()->lists);
  exchange.begin(context, {s.data(), static_cast<Index>(s.size()), 1, 1});
  const ConstBlockView<double, HostSpace> halo = exchange.end(context);
  P.set_remote(scaled_remote(context, *P.remote(),
                             [&halo](Index, Index column) { return halo(column, 0); }));
  Pt.set_remote(
      scaled_remote(context, *Pt.remote(), [&s](Index row, Index) { return s.data()[row]; }));
}

void fetch_dense(HostContext&, HostContext&, CsrView<double, HostSpace> A,
                 SmallView<double, HostSpace> H) {
  std::fill_n(H.data, H.rows * H.cols, 0.0);
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      H(i, A.columns[e]) = A.values[e];
    }
  }
}

}  // namespace heddle::detail
