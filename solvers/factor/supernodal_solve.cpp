#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/solvers/factor/supernodal_solve.hpp>

namespace heddle::detail {
namespace {

/// Columns that are solved at once, as the entries of a row in one or two registers.
constexpr Index kGroup = 4;

/// Columns of L that are multiplied in one pass.
constexpr Index kPass = 4;

/// Rows × kGroup numbers by rows.
using Rows = double*;

/// Y ← Y − M X for `rows`×`columns` numbers M by columns at distance `ld`.
void subtract_product(const double* M, Index rows, Index columns, Index ld, const double* X,
                      Rows Y) {
  Index k = 0;
  for (; k + kPass <= columns; k += kPass) {
    double x[kPass][kGroup];
    for (Index p = 0; p < kPass; ++p) {
      for (Index c = 0; c < kGroup; ++c) x[p][c] = X[(k + p) * kGroup + c];
    }
    const double* m = M + k * ld;
    for (Index i = 0; i < rows; ++i) {
      double* y = Y + i * kGroup;
      for (Index c = 0; c < kGroup; ++c) {
        y[c] -= m[i] * x[0][c] + m[ld + i] * x[1][c] + m[2 * ld + i] * x[2][c] +
                m[3 * ld + i] * x[3][c];
      }
    }
  }
  for (; k < columns; ++k) {
    const double* m = M + k * ld;
    for (Index i = 0; i < rows; ++i) {
      for (Index c = 0; c < kGroup; ++c) Y[i * kGroup + c] -= m[i] * X[k * kGroup + c];
    }
  }
}

/// Y ← Y − Mᵀ X for `rows`×`columns` numbers M.
void subtract_transposed(const double* M, Index rows, Index columns, Index ld, const double* X,
                         Rows Y) {
  Index k = 0;
  for (; k + kPass <= columns; k += kPass) {
    double sums[kPass][kGroup] = {};
    const double* m = M + k * ld;
    for (Index i = 0; i < rows; ++i) {
      const double* x = X + i * kGroup;
      for (Index p = 0; p < kPass; ++p) {
        for (Index c = 0; c < kGroup; ++c) sums[p][c] += m[p * ld + i] * x[c];
      }
    }
    for (Index p = 0; p < kPass; ++p) {
      for (Index c = 0; c < kGroup; ++c) Y[(k + p) * kGroup + c] -= sums[p][c];
    }
  }
  for (; k < columns; ++k) {
    double sums[kGroup] = {};
    const double* m = M + k * ld;
    for (Index i = 0; i < rows; ++i) {
      for (Index c = 0; c < kGroup; ++c) sums[c] += m[i] * X[i * kGroup + c];
    }
    for (Index c = 0; c < kGroup; ++c) Y[k * kGroup + c] -= sums[c];
  }
}

void permute(const DensePivots& pivots, Rows Y, bool back) {
  double moved[kPivotBlock * kGroup];
  for (Index k = 0; k < pivots.size; ++k) {
    const Index from = pivots.from[k];
    for (Index c = 0; c < kGroup; ++c) {
      moved[(back ? from : k) * kGroup + c] = Y[(back ? k : from) * kGroup + c];
    }
  }
  std::copy_n(moved, pivots.size * kGroup, Y);
}

/// L⁻¹ and L⁻ᵀ of a block of pivots.
void solve_block(const double* L, Index ld, Index size, Rows Y) {
  for (Index k = 0; k < size; ++k) {
    subtract_product(L + k * ld + k + 1, size - k - 1, 1, ld, Y + k * kGroup, Y + (k + 1) * kGroup);
  }
}

void solve_block_transposed(const double* L, Index ld, Index size, Rows Y) {
  for (Index k = size; k-- > 0;) {
    subtract_transposed(L + k * ld + k + 1, size - k - 1, 1, ld, Y + (k + 1) * kGroup,
                        Y + k * kGroup);
  }
}

/// The solve of one group of columns.
class Group {
 public:
  Group(const Supernodes& structure, const double* L,
        const std::vector<std::vector<DensePivots>>& pivots)
      : structure_(structure), L_(L), pivots_(pivots), Y_(structure.order.size() * kGroup) {
    Index most = 0;
    for (const Supernode& node : structure.nodes) most = std::max(most, node.below);
    below_.resize(static_cast<std::size_t>(most * kGroup));
  }

  void solve(double* X, Index columns) {
    const auto n = static_cast<Index>(structure_.order.size());
    for (Index k = 0; k < n; ++k) {
      for (Index c = 0; c < kGroup; ++c) {
        Y_[static_cast<std::size_t>(k * kGroup + c)] = c < columns ? X[c * n + old(k)] : 0;
      }
    }
    for (std::size_t s = 0; s < pivots_.size(); ++s) forward(s);
    for (std::size_t s = pivots_.size(); s-- > 0;) backward(s);
    for (Index k = 0; k < n; ++k) {
      for (Index c = 0; c < columns; ++c) {
        X[c * n + old(k)] = Y_[static_cast<std::size_t>(k * kGroup + c)];
      }
    }
  }

 private:
  Index old(Index k) const { return structure_.order[static_cast<std::size_t>(k)]; }
  Rows rows_from(Index row) { return Y_.data() + row * kGroup; }
  const std::int32_t* below(const Supernode& node) const {
    return structure_.rows.data() + node.rows_begin;
  }

  void forward(std::size_t s) {
    const Supernode& node = structure_.nodes[s];
    const Index height = node.height();
    const double* L = L_ + node.offset;
    const Rows Y = rows_from(node.first);
    for (Index k = 0; k < node.columns; k += kPivotBlock) {
      const DensePivots& block = pivots_[s][static_cast<std::size_t>(k / kPivotBlock)];
      const Index end = k + block.size;
      permute(block, Y + k * kGroup, false);
      solve_block(L + k * height + k, height, block.size, Y + k * kGroup);
      subtract_product(L + k * height + end, node.columns - end, block.size, height, Y + k * kGroup,
                       Y + end * kGroup);
    }
    std::fill_n(below_.data(), node.below * kGroup, 0.0);
    subtract_product(L + node.columns, node.below, node.columns, height, Y, below_.data());
    for (Index r = 0; r < node.below; ++r) {
      const Rows target = rows_from(below(node)[r]);
      for (Index c = 0; c < kGroup; ++c) {
        target[c] += below_[static_cast<std::size_t>(r * kGroup + c)];
      }
    }
  }

  void backward(std::size_t s) {
    const Supernode& node = structure_.nodes[s];
    const Index height = node.height();
    const double* L = L_ + node.offset;
    const Rows Y = rows_from(node.first);
    for (Index r = 0; r < node.below; ++r) {
      std::copy_n(rows_from(below(node)[r]), kGroup, below_.data() + r * kGroup);
    }
    for (const DensePivots& block : pivots_[s]) {
      block.divide(Y + (&block - pivots_[s].data()) * kPivotBlock * kGroup, kGroup);
    }
    subtract_transposed(L + node.columns, node.below, node.columns, height, below_.data(), Y);
    for (std::size_t b = pivots_[s].size(); b-- > 0;) {
      const DensePivots& block = pivots_[s][b];
      const Index k = static_cast<Index>(b) * kPivotBlock, end = k + block.size;
      subtract_transposed(L + k * height + end, node.columns - end, block.size, height,
                          Y + end * kGroup, Y + k * kGroup);
      solve_block_transposed(L + k * height + k, height, block.size, Y + k * kGroup);
      permute(block, Y + k * kGroup, true);
    }
  }

  const Supernodes& structure_;
  const double* L_;
  const std::vector<std::vector<DensePivots>>& pivots_;
  std::vector<double> Y_;      // by rows
  std::vector<double> below_;  // the rows below a supernode
};

}  // namespace

void solve_supernodal(const Supernodes& structure, const double* L,
                      const std::vector<std::vector<DensePivots>>& pivots, int threads, double* X,
                      Index columns) {
  const auto n = static_cast<Index>(structure.order.size());
  const Index groups = (columns + kGroup - 1) / kGroup;
  const auto workers = static_cast<std::size_t>(std::min<Index>(std::max(threads, 1), groups));
  std::vector<Group> work;
  work.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) work.emplace_back(structure, L, pivots);
  parallel_for_in_turns(static_cast<int>(workers), groups, [&](Index group, Index member) {
    const Index from = group * kGroup;
    work[static_cast<std::size_t>(member)].solve(X + from * n, std::min(kGroup, columns - from));
  });
}

}  // namespace heddle::detail
