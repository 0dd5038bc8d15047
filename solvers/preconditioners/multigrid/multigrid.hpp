#pragma once

#include <array>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/grid_levels.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/multigrid/narrow_smoother.hpp>
#include <heddle/solvers/preconditioners/multigrid/options.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {

namespace detail {
template <class Space>
struct Hierarchy;
}  // namespace detail

/// One V-cycle of algebraic multigrid by smoothed aggregation, applied to whole blocks:
///
///     cycle(l, r):  x = p_l(A_l) r                          smoothing, from x = 0
///                   x += P_l cycle(l+1, P_lᵀ (r − A_l x))   coarse correction
///                   x += p_l(A_l) (r − A_l x)               smoothing
///
/// A_0 is D^(-1/2) A D^(-1/2) with D = diag(|a_ii|), A_{l+1} = P_lᵀ A_l P_l scaled to a diagonal of
/// ones, and the coarsest system is solved by its dense inverse if it has at most 1200 rows. p_l is
/// `detail::smoothing_polynomial`. As the same polynomial smooths before and after, the
/// preconditioner is symmetric, and positive definite for a positive semidefinite A.
///
/// With p of degree k − 1, a cycle costs 2k products with each A_l and one with each P_l and P_lᵀ.
/// Iterations of a solver hardly depend on the order of a discretised elliptic problem. The levels
/// are made where the matrix lies. Their number, their pattern and, up to rounding, their values
/// are the same on all backends.
///
/// Of a distributed A, each process smooths its rows of the finer levels, and all processes repeat
/// the cycle of the coarser ones, see `detail::make_hierarchy`.
///
/// Source: Vaněk, Mandel, Brezina, Algebraic multigrid by smoothed aggregation, Computing 56
/// (1996) 179.
template <Scalar T, class Ctx>
class MultigridPreconditioner final : public Preconditioner<T, Ctx>, private GridLevels<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Makes the levels in double precision and rounds them to T. A is symmetric, in the context's
  /// memory, and not needed afterwards. Processes that share A call it together. Throws
  /// `InvalidArgument` if A is not square, is found to be indefinite, or does not fit the options,
  /// and `OutOfMemory`.
  MultigridPreconditioner(Ctx& context, DistributedCsrView<T, Space> A,
                          const MultigridOptions& options = {}, const SpmmOptions& spmm = {});

  /// The same in single precision for an A in double precision.
  template <std::same_as<double> U = double>
  MultigridPreconditioner(Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A,
                          const MultigridOptions& options = {}, const SpmmOptions& spmm = {});

  std::span<const OperatorLevel> levels() const noexcept override { return sizes_; }

  GridLevels<T, Ctx>* grids() noexcept override { return shared_ ? nullptr : this; }

  /// Stored entries of all levels per entry of the finest one.
  double operator_complexity() const noexcept { return heddle::operator_complexity(sizes_); }

  std::optional<ScaledView<T, Space>> scaled_product(Ctx& context, ConstBlockView<double, Space> X,
                                                     ConstSmallView<double, Space> scales) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  /// A matrix with its plan.
  struct Product {
    Product(Ctx& context, DistributedCsr<T, Space> A, const SpmmOptions& spmm)
        : matrix(std::move(A)), plan(context, matrix.view(), spmm) {}
    Product(const Product&) = delete;

    DistributedCsr<T, Space> matrix;
    SpmmPlan<T, Ctx> plan;
  };

  struct Level {
    Level(Ctx& context, DistributedCsr<T, Space> A, const SpmmOptions& spmm)
        : product(context, std::move(A), spmm) {}

    Product product;  // of A
    std::vector<T> polynomial;
    std::unique_ptr<detail::NarrowSmoother<Ctx>> narrow;  // null: smooths in T
    std::optional<Product> prolong,
        restrict;                   // from and to the next coarser level, if there is one
    std::optional<Product> gather;  // of what `restrict` makes, see `HierarchyLevel`
    MultiVector<T, Space> part;     // that, if it is to be gathered
    MultiVector<T, Space> right, solution, residual, work;  // n×width
    Index width = 0;                                        // of the widest block so far
  };

  MultigridPreconditioner(Ctx& context, detail::Hierarchy<Space> hierarchy,
                          const MultigridOptions& options, const SpmmOptions& spmm);
  // Of GridLevels.
  Index count() const noexcept override { return std::ssize(levels_); }
  Index order(Index l) const noexcept override { return at(l).product.matrix.rows(); }
  ConstBlockView<T, Space> scaling() const noexcept override {
    return ConstBlockView<T, Space>(scaling_.data(), this->rows(), 1, 1);
  }
  void multiply(Ctx& context, Index l, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    at(l).product.plan.multiply(context, 1, X, 0, Y);
  }
  void prolong(Ctx& context, Index l, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    at(l).prolong->plan.multiply(context, 1, X, 0, Y);
  }
  CsrView<T, Space> restriction(Index l) const override {
    return at(l).restrict->matrix.view().whole();
  }
  BlockView<T, Space> spare(Ctx& context, Index l, Index b) override {
    reserve(context, l, b);
    return at(l).residual.columns(0, b);
  }
  void cycle(Ctx& context, Index l, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

  Level& at(Index l) const { return *levels_[static_cast<std::size_t>(l)]; }
  void reserve(Ctx& context, Index first, Index b);
  void restrict_to(Ctx& context, Level& level, ConstBlockView<T, Space> residual,
                   BlockView<T, Space> right);
  void solve(Ctx& context, std::size_t level, Index width);
  void smooth(Ctx& context, const Level& level, ConstBlockView<T, Space> r, T beta,
              BlockView<T, Space> x, const std::array<BlockView<T, Space>, 2>& spare);

  Buffer<T, Space> scaling_;                    // D^(-1/2)
  std::vector<std::unique_ptr<Level>> levels_;  // the finest first
  std::optional<Product> inverse_;              // of the coarsest level's A
  std::vector<OperatorLevel> sizes_;
  bool shared_ = false;  // whether processes share the finest level
};

}  // namespace heddle
