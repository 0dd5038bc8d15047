#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <memory>
#include <optional>
#include <string>

namespace heddle::detail {

/// Costs of a factorisation and its solves, in units of the cost per entry of A and column in a
/// product of A with a block in the same context.
struct FactorRates {
  double operation;         ///< per operation of the factorisation
  double solve;             ///< per entry of L and column
  double seconds_per_unit;  ///< an estimate
};

/// The factorisation P (A − σB) Pᵀ = L Lᴴ by one library, for any number of shifts σ, and solves
/// with it. P depends only on the patterns of A and B. The functions are called in the order of
/// their declaration; `factor` any number of times.
template <Scalar T, class Ctx>
class InverseFactor {
 public:
  using Space = typename Ctx::Space;

  virtual ~InverseFactor() = default;

  virtual std::string library() const = 0;  ///< its name, with its version where that is known
  virtual FactorRates rates() const noexcept = 0;

  /// The cost of `order` and `analyse` for `rows` rows, in the unit of `FactorRates`. `factor`: the
  /// cost of L, which may be an estimate.
  virtual double order_cost(double rows, const FactorCost& factor) const noexcept = 0;

  /// Chooses P.
  virtual void order(Ctx& context) = 0;

  /// Finds the cost of L.
  virtual void analyse(Ctx& context) = 0;

  /// The cost of L. Nothing if it takes more than the memory that it may take.
  virtual std::optional<FactorCost> cost() const = 0;

  /// Factors A − σB in place of the shift before. False if A − σB is not positive definite, or so
  /// close to singular that a pivot is rounding noise relative to its diagonal entry. Nothing can
  /// be solved then. Must not be called if there is no cost.
  virtual bool factor(Ctx& context, double sigma) = 0;

  /// Whether there is a factor to solve with.
  virtual bool factored() const noexcept = 0;

  /// Y = (A − σB)⁻¹ X, Y = L⁻¹P X and Y = PᵀL⁻ᴴ X. Y may be X.
  virtual void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;
  virtual void solve_lower(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;
  virtual void solve_upper(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;
};

/// A in host memory, in double. If A has no rows, neither has the result.
template <Scalar T>
HostCsrMatrix<Wide<T>> on_host(HostContext& host, HostContext&, const CsrView<T, HostSpace>& A) {
  return A.rows == 0 ? HostCsrMatrix<Wide<T>>() : convert<Wide<T>>(host, A);
}
template <Scalar T>
HostCsrMatrix<Wide<T>> on_host(HostContext& host, CudaContext& context,
                               const CsrView<T, DeviceSpace>& A) {
  if (A.rows == 0) return {};
  return convert<Wide<T>>(host, fetch(context, host, A).view());
}

}  // namespace heddle::detail
