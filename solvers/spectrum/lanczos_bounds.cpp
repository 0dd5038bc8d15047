#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
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

  BorrowedMatrix(Ctx& context, CsrView<T, Space> A)
      : LinearOperator<T, Ctx>(row_range(A), column_range(A)), plan_(context, A, kernel()) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    plan_.multiply(context, T{1}, X, T{0}, Y);
  }

 private:
  /// On a GPU, one that suits a single column and builds little beside A: there are few products.
  static SpmmOptions kernel() {
    return {.kernel = std::same_as<Ctx, HostContext> ? "auto" : "narrow_merge"};
  }

  SpmmPlan<T, Ctx> plan_;
};

/// At most `steps` Lanczos steps. H receives the tridiagonal matrix, m×m. Returns m and the norm of
/// the last residual. Vectors are not reorthogonalised, because copies of Ritz values do no harm
/// here.
template <Scalar T, class Ctx>
std::pair<Index, double> lanczos_steps(Ctx& context, LinearOperator<T, Ctx>& A,
                                       SmallView<double, HostSpace> H) {
  using Space = typename Ctx::Space;
  MultiVector<T, Space> v(context, A.rows(), 1), v_old(context, A.rows(), 1),
      w(context, A.rows(), 1);
  SmallMatrix<double, Space> number(context, 1, 1);
  const auto fetched = [&] {
    double value = 0;
    fetch(context, number.view(1, 1), SmallView<double, HostSpace>{&value, 1, 1, 1});
    return value;
  };
  const auto norm = [&](ConstBlockView<T, Space> x) {
    column_norms(context, x, number.view(1, 1));
    return fetched();
  };
  fill_random(context, 0, 0, w.view(), A.row_range().first);
  set_zero(context, v.view());
  double beta = norm(w.view());
  Index m = 0;
  while (m < H.rows && beta > 0) {
    std::swap(v_old, v);
    axpby<T>(context, 1 / beta, w.view(), 0, v.view());  // v_m = w/β
    A.apply(context, v.view(), w.view());                // w = A v_m
    if (m > 0) {
      H(m, m - 1) = H(m - 1, m) = beta;
      axpby<T>(context, -beta, v_old.view(), 1, w.view());  // w −= β v_{m−1}
    }
    gram<T>(context, v.view(), w.view(), number.view(1, 1));
    H(m, m) = fetched();
    axpby<T>(context, -H(m, m), v.view(), 1, w.view());  // w −= α v_m
    beta = norm(w.view());
    ++m;
  }
  return {m, beta};
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
SpectrumBounds lanczos_bounds(Ctx& context, CsrView<T, typename Ctx::Space> A) {
  BorrowedMatrix<T, Ctx> borrowed(context, A);
  return lanczos_bounds<T, Ctx>(context, borrowed);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                              \
  template SpectrumBounds lanczos_bounds(Ctx&, LinearOperator<T, Ctx>&, Index); \
  template SpectrumBounds lanczos_bounds(Ctx&, CsrView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
