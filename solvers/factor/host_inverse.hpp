#pragma once

#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/factor/sparse_cholesky.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {

/// The factorisation by CHOLMOD or Eigen on the host, in double. The triangular systems are solved
/// by levels of rows in the context's memory, in its precision.
template <Scalar T, class Ctx>
class HostInverse final : public InverseFactor<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Matrix = CsrView<T, Space>;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// A and B, whose memory must outlive this object, as those of `ShiftedInverse`. `max_bytes`
  /// limits the memory of the factor on the host and in the context.
  HostInverse(Matrix A, Matrix B, double max_bytes) : A_(A), B_(B), max_bytes_(max_bytes) {}

  std::string library() const override { return std::string(best_cholesky().name()); }
  FactorRates rates() const noexcept override;
  double order_cost(double rows, const FactorCost& factor) const noexcept override;
  void order(Ctx& context) override;
  void analyse(Ctx& context) override;
  std::optional<FactorCost> cost() const override;
  bool factor(Ctx& context, double sigma) override;
  bool factored() const noexcept override { return solves_.has_value(); }
  void solve(Ctx& context, ConstBlock X, Block Y) override;
  void solve_lower(Ctx& context, ConstBlock X, Block Y) override;
  void solve_upper(Ctx& context, ConstBlock X, Block Y) override;

 private:
  void make_solves(Ctx& context, HostCsrMatrix<Wide<T>> factor);
  Block permuted_block(Ctx& context, Index columns);

  Matrix A_, B_;
  double max_bytes_;
  HostContext beside_{1};  // the host, where Ctx is a GPU
  std::optional<SparseCholeskyOf<Wide<T>>> cholesky_;
  bool fits_ = false;
  std::optional<TriangularSolves<T, Ctx>> solves_;
  CsrMatrix<T, Space> there_, back_;  // P and Pᵀ
  std::optional<SpmmPlan<T, Ctx>> into_order_, out_of_order_;
  MultiVector<T, Space> permuted_;
};

}  // namespace heddle::detail
