#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <utility>

namespace heddle::detail {

void refuse_indefinite(double value) {
  throw InvalidArgument(
      fmt::format("MultigridPreconditioner: A must be positive semidefinite, it has an eigenvalue "
                  "below {:.3g} times its largest one",
                  value));
}

void refuse_infinite() {
  throw InvalidArgument("MultigridPreconditioner: A has entries that are not finite");
}

template <class Ctx>
CsrMatrix<double, typename Ctx::Space> coarse_inverse(Ctx& context,
                                                      CsrView<double, typename Ctx::Space> A,
                                                      std::optional<double> roundoff) {
  const Index n = A.rows;
  if (n == 0) return {};
  if constexpr (!std::same_as<Ctx, HostContext>) {
    if (auto inverse = definite_inverse(context, A)) return std::move(*inverse);
  }
  HostContext beside;
  HostContext& host = host_of(context, beside);
  SmallMatrix<double, HostSpace> H(host, n, n), Z(host, n, n), theta(host, n, 1);
  fetch_dense(context, host, A, H.view(n, n));
  DenseEigensolver solver(context, n);
  if (solver.solve(H.view(n, n), theta.view(n, 1), Z.view(n, n)) != DenseFailure::none) {
    refuse_infinite();
  }
  const double* const values = theta.view(n, 1).data;
  const double largest = std::max(std::abs(values[0]), std::abs(values[n - 1]));
  const double rounding = static_cast<double>(n) * 1e-14 * largest;
  const double least = std::max(1e-10, kRoundoffs * roundoff.value_or(0)) * largest;
  if (roundoff && values[0] < -std::max(rounding, least)) {
    refuse_indefinite(values[0] / largest);
  }
  const double zero = std::max(rounding, -2 * values[0]);
  const double of_zero = !roundoff ? 0 : largest > 0 ? 1 / std::sqrt(largest) : 1;
  for (Index k = 0; k < n; ++k) {  // Z Θ^(-1/2)
    const double factor = values[k] > zero ? 1 / std::sqrt(values[k]) : of_zero;
    for (Index i = 0; i < n; ++i) Z.view(n, n)(i, k) *= factor;
  }
  small_multiply(host, 1, Z.view(n, n), false, Z.view(n, n), true, 0, H.view(n, n));
  HostCsrMatrix<double> inverse(host, n, n, n * n);
  for (Index i = 0; i <= n; ++i) inverse.row_offsets()[i] = i * n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      inverse.columns()[i * n + j] = static_cast<std::int32_t>(j);
      inverse.values()[i * n + j] = H.view(n, n)(std::min(i, j), std::max(i, j));
    }
  }
  return place(context, std::move(inverse));
}

template CsrMatrix<double, HostSpace> coarse_inverse(HostContext&, CsrView<double, HostSpace>,
                                                     std::optional<double>);
#ifdef HEDDLE_HAS_CUDA
template CsrMatrix<double, DeviceSpace> coarse_inverse(CudaContext&, CsrView<double, DeviceSpace>,
                                                       std::optional<double>);
#endif

}  // namespace heddle::detail
