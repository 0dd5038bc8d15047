#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// An operator that refers to a matrix of another owner.
template <Scalar T, class Ctx>
class BorrowedMatrix final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  BorrowedMatrix(Ctx& context, DistributedCsrView<T, Space> A)
      : LinearOperator<T, Ctx>(row_range(A), column_range(A)), plan_(context, A, kernel()) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    plan_.multiply(context, T{1}, X, T{0}, Y);
  }

 private:
  /// On a GPU, one that suits a single column and builds little in addition to A: there are few
  /// products.
  static SpmmOptions kernel() {
    return {.kernel = std::same_as<Ctx, HostContext> ? "auto" : "row_parallel"};
  }

  SpmmPlan<T, Ctx> plan_;
};

/// At most H.rows Lanczos steps. H receives the tridiagonal matrix, m×m. Returns m and the norm of
/// the last residual. Vectors are not reorthogonalised, because copies of Ritz values do no harm
/// here. All steps are queued before one wait for their numbers. Those after a residual of zero are
/// not finite, and not used.
template <Scalar T, class Ctx>
std::pair<Index, double> lanczos_steps(Ctx& context, LinearOperator<T, Ctx>& A,
                                       SmallView<double, HostSpace> H) {
  using Space = typename Ctx::Space;
  const Index steps = H.rows;
  MultiVector<T, Space> v(context, A.rows(), 1), v_old(context, A.rows(), 1),
      w(context, A.rows(), 1);
  Packet<Ctx> numbers(context, 2 * steps + 1);
  const auto alpha = numbers.add(steps, 1);
  const auto beta = numbers.add(steps + 1, 1);
  const auto number = [](SmallView<double, Space> of, Index k) { return of.block(k, 0, 1, 1); };
  SmallMatrix<double, Space> inverse(context, 1, 1);
  fill_random(context, 0, 0, w.view(), A.row_range().first);
  column_norms<T>(context, w.view(), number(beta.there, 0));
  for (Index m = 0; m < steps; ++m) {
    std::swap(v_old, v);
    std::swap(v, w);
    const SmallView<double, Space> beta_m = number(beta.there, m);
    reciprocals<double>(context, {beta_m.data, 1, 1, 1}, {inverse.view(1, 1).data, 1, 1, 1});
    scale_columns<T>(context, inverse.view(1, 1), v.view());  // v_m = w/β_m
    A.apply(context, v.view(), w.view());                     // w = A v_m
    if (m > 0) {                                              // w −= β_m v_{m−1}
      if constexpr (kComplex<T>) {
        residual<T>(context, w.view(), v_old.view(), beta_m, w.view(), number(beta.there, m + 1));
      } else {
        multiply<T>(context, -1, v_old.view(), beta_m, 1, w.view());
      }
    }
    column_dots<T>(context, v.view(), w.view(), number(alpha.there, m));  // α_m = v_mᵀw
    residual<T>(context, w.view(), v.view(), number(alpha.there, m), w.view(),
                number(beta.there, m + 1));  // w −= α_m v_m, β_{m+1} = ‖w‖
  }
  numbers.fetch(context);
  Index m = 0;
  for (; m < steps && beta.here(m, 0) > 0; ++m) {
    if (m > 0) H(m, m - 1) = H(m - 1, m) = beta.here(m, 0);
    H(m, m) = alpha.here(m, 0);
  }
  return {m, beta.here(m, 0)};
}

}  // namespace

template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, LinearOperator<T, Ctx>& A, Index steps) {
  steps = std::min(steps, A.row_range().global);
  if (steps == 0) return {};
  const auto square = static_cast<std::size_t>(steps * steps);
  std::vector<double> H(square), theta(static_cast<std::size_t>(steps)), Z(square);
  const SmallView<double, HostSpace> tridiagonal{H.data(), steps, steps, steps};
  const auto [m, beta] = lanczos_steps(context, A, tridiagonal);
  DenseEigensolver dense(steps);
  const SmallView<double, HostSpace> vectors{Z.data(), m, m, m};
  const bool solved = dense.solve(tridiagonal.block(0, 0, m, m), {theta.data(), m, 1, m},
                                  vectors) == DenseFailure::none;
  if (!solved || m == 0) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {-kInfinity, -kInfinity, kInfinity, kInfinity, kInfinity, kInfinity};
  }
  const double last = theta[static_cast<std::size_t>(m - 1)];
  return {theta[0] - beta,
          theta[0],
          last,
          last + beta,
          beta * std::abs(vectors(m - 1, 0)),
          beta * std::abs(vectors(m - 1, m - 1))};
}

template <Scalar T, class Ctx>
SpectrumBounds lanczos_bounds(Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                              Index steps) {
  BorrowedMatrix<T, Ctx> borrowed(context, A);
  return lanczos_bounds<T, Ctx>(context, borrowed, steps);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                              \
  template SpectrumBounds lanczos_bounds(Ctx&, LinearOperator<T, Ctx>&, Index); \
  template SpectrumBounds lanczos_bounds(Ctx&, DistributedCsrView<T, typename Ctx::Space>, Index);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
