#pragma once

#include <algorithm>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>

/// Costs of factors and of products in common units.
namespace heddle::detail {

/// Costs in units of the cost per entry of A and column in a product with a block.
struct ProductRates {
  double row;    ///< per row, for the dense passes in addition to a product
  double least;  ///< of a product with a block, per column, for any A
};

/// On a GPU, a launch takes 5 µs, that is 10⁵ units per column of a block of 8.
template <class Ctx>
inline constexpr ProductRates kProductRates =
    std::same_as<Ctx, HostContext> ? ProductRates{5, 0} : ProductRates{5, 1e5};

/// A unit of the host in units of the context.
template <class Ctx>
inline constexpr double kHostUnit = std::same_as<Ctx, HostContext> ? 1 : 33;

/// A cost in these units as a number of products of A with one column.
template <class Ctx>
double in_products(double cost, double rows, double nnz) noexcept {
  constexpr ProductRates rate = kProductRates<Ctx>;
  return cost / std::max(nnz + rate.row * rows, rate.least);
}

/// Bytes of host memory per entry of an indefinite factor, with working memory.
inline constexpr double kIndefiniteBytes = 12;

/// The estimated cost of the factor of A − σB. Reads the patterns only.
template <Scalar T>
FactorCost estimated_factor_cost(HostContext&, const CsrView<T, HostSpace>& A,
                                 const CsrView<T, HostSpace>& B) {
  const auto pattern = [](const CsrView<T, HostSpace>& M) -> CsrView<double, HostSpace> {
    return {M.rows, M.cols, M.nnz, M.row_offsets, M.columns, nullptr};
  };
  return estimate_factor_cost(pattern(A), pattern(B));
}
template <Scalar T>
FactorCost estimated_factor_cost(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                 const CsrView<T, DeviceSpace>& B) {
  HostContext host{1};
  const auto fetched = [&](const CsrView<T, DeviceSpace>& M) {
    return M.rows == 0 ? HostCsrMatrix<T>() : fetch(context, host, M);
  };
  return estimated_factor_cost(host, fetched(A).view(), fetched(B).view());
}

/// Rows of the real form of a matrix of T per row: a complex number is a 2×2 block of its parts.
template <Scalar T>
inline constexpr Index kRealRows = kComplex<T> ? 2 : 1;

/// The same for the indefinite factor, which is that of the real form.
template <Scalar T, class Ctx>
FactorCost indefinite_factor_cost(Ctx& context, const CsrView<T, typename Ctx::Space>& A,
                                  const CsrView<T, typename Ctx::Space>& B) {
  constexpr auto kRows = static_cast<double>(kRealRows<T>);
  FactorCost cost = estimated_factor_cost<T>(context, A, B);
  cost.entries *= kRows * kRows;
  cost.operations *= kRows * kRows * kRows;
  return cost;
}

}  // namespace heddle::detail
