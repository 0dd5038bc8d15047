#pragma once

#include <heddle/solvers/factor/cudss_solver.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <memory>
#include <vector>

namespace heddle::detail {

/// The factorisation and the solves by cuDSS on the GPU, in double, for a T of either precision.
template <Scalar T>
class CudssInverse final : public InverseFactor<T, CudaContext> {
 public:
  using Matrix = CsrView<T, DeviceSpace>;
  using Block = BlockView<T, DeviceSpace>;
  using ConstBlock = ConstBlockView<T, DeviceSpace>;

  /// A and B, whose memory must outlive this object, as those of `ShiftedInverse`. `max_bytes`
  /// limits the device memory of the factor. `deterministic`: see `CudssSolver`. Throws
  /// `DeviceError` if cuDSS cannot be loaded. Keeps the context by reference.
  CudssInverse(CudaContext& context, Matrix A, Matrix B, double max_bytes, bool deterministic);
  ~CudssInverse() override;

  std::string library() const override { return "cuDSS " + cudss_.version; }
  FactorRates rates() const noexcept override;
  double order_cost(double rows, const FactorCost& factor) const noexcept override;
  void order(CudaContext& context) override;
  void analyse(CudaContext& context) override;
  std::optional<FactorCost> cost() const override { return cost_; }
  bool factor(CudaContext& context, double sigma) override;
  bool factored() const noexcept override { return factored_; }
  void solve(CudaContext& context, ConstBlock X, Block Y) override;
  void solve_lower(CudaContext& context, ConstBlock X, Block Y) override;
  void solve_upper(CudaContext& context, ConstBlock X, Block Y) override;

 private:
  bool pivots_are_large(double sigma) const;

  const CudssLibrary& cudss_;
  Matrix A_, B_;
  double max_bytes_;
  bool deterministic_;
  /// The lower triangles of A, of B and of A − σB in one pattern, that of A − σB.
  CsrMatrix<double, DeviceSpace> shifted_;
  Buffer<double, DeviceSpace> A_values_, B_values_;
  std::vector<double> A_diagonal_, B_diagonal_;
  std::unique_ptr<CudssSolver> solver_;
  std::optional<FactorCost> cost_;
  bool factored_ = false;
};

}  // namespace heddle::detail
