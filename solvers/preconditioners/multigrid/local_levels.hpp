#pragma once

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/multigrid/levels.hpp>
#include <heddle/spgemm/spgemm.hpp>

namespace heddle::detail {

/// The operations of `add_levels` for levels that one process holds, where the matrix lies.
template <class Ctx>
class LocalLevels {
 public:
  using Space = typename Ctx::Space;
  using Matrix = CsrMatrix<double, Space>;
  using LevelGrid = Grid<Space>;
  using Columns = Index;
  using Prolongator = Matrix;

  explicit LocalLevels(Ctx& context) : context_(&context) {}

  Ctx& context() const noexcept { return *context_; }
  const Grid<Space>& own(const LevelGrid& grid) const noexcept { return grid; }
  CsrView<double, Space> matrix(const LevelGrid& grid) const noexcept { return grid.A.view(); }
  Matrix take_matrix(LevelGrid grid) const { return std::move(grid.A); }
  Index rows(const LevelGrid& grid) const noexcept { return grid.A.rows(); }
  double entries(const LevelGrid& grid) const noexcept { return static_cast<double>(grid.A.nnz()); }
  Columns columns(Index count) const noexcept { return count; }
  Index total(Columns columns) const noexcept { return columns; }

  LevelGrid grid(Matrix A, Buffer<std::int64_t, Space> nodes, MultiVector<double, Space> near_null,
                 Columns) const {
    return {std::move(A), std::move(nodes), std::move(near_null)};
  }

  std::optional<NegativeEntry> first_negative_entry(const CsrView<double, Space>& A) const {
    return first_negative(*context_, extract_diagonal<double>(*context_, A));
  }

  Aggregates<Space> aggregates(const LevelGrid&, const NodeGraph<Space>& strong) const {
    return aggregate(*context_, strong);
  }

  /// T, or P = (I − ω D⁻¹ Ā) T where a row with very many neighbours does not make it fill the next
  /// level's matrix.
  Prolongator prolongator(const LevelGrid& grid, const NodeGraph<Space>& strong, Matrix T, Columns,
                          double bound) const {
    Matrix P = smoothed_prolongator(*context_, grid, strong, T.view(), bound);
    const double most = kMostProducts * static_cast<double>(grid.A.nnz());
    return multiplications(*context_, grid.A.view(), P.view()) > most ? std::move(T) : std::move(P);
  }

  CoarseProducts<Matrix> products(const LevelGrid& fine, Prolongator P, Columns) const {
    Matrix Pt = transpose<double>(*context_, P.view());
    const Matrix AP = spgemm<double>(*context_, fine.A.view(), P.view());
    // It stores its diagonal, as A does and as each column of P has an entry.
    Matrix A = spgemm<double>(*context_, Pt.view(), AP.view());
    return {std::move(A), std::move(P), std::move(Pt)};
  }

  /// The level after `fine`, which is level number `count`, counted from 1.
  std::optional<CoarserLevel<LocalLevels>> next(const LevelGrid& fine, Index count,
                                                double bound) const {
    constexpr Index kMostLevels = 20;
    if (fine.A.rows() <= kCoarsestRows || count == kMostLevels) return std::nullopt;
    return coarser_level(*this, fine, bound);
  }

  void gather(CoarserLevel<LocalLevels>, const EntryCount&, Hierarchy<Space>&) const {}

  /// Makes the inverse of the coarsest level.
  void end(Hierarchy<Space>& made) const {
    constexpr Index kMostDenseRows = 1200;  // of a dense inverse, where coarsening ends early
    const CsrView<double, Space> coarsest = made.levels.back().A.own().view();
    if (coarsest.rows > kMostDenseRows) return;
    const bool only = made.levels.size() == 1;
    made.coarse_inverse =
        coarse_inverse(*context_, coarsest, only ? std::optional(made.roundoff) : std::nullopt);
  }

 private:
  Ctx* context_;
};

}  // namespace heddle::detail
