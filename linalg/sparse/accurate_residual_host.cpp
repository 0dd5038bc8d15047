#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>

namespace heddle::detail {
namespace {

constexpr Index kColumns = 8;  // columns that are summed at once

/// An unevaluated sum of two numbers.
struct Pair {
  double high = 0;
  double low = 0;
};

/// sum + a b.
void add_product(Pair& sum, double a, double b) {
  const double product = a * b;
  const double rest = std::fma(a, b, -product);
  const double high = sum.high + product;
  const double part = high - sum.high;
  sum.low += ((sum.high - (high - part)) + (product - part)) + rest;
  sum.high = high;
}

/// sum of both parts of x, times a.
void add_product(Pair& sum, double a, const Pair& x) {
  add_product(sum, a, x.high);
  add_product(sum, a, x.low);
}

using Sums = std::array<Pair, kColumns>;

/// Row i of A X, for the columns from `first` on.
template <Scalar T>
void multiply_row(const CsrView<T, HostSpace>& A, Index i, const ConstBlockView<T, HostSpace>& X,
                  Index first, Index count, Sums& sums) {
  for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    const double entry = A.values[k];
    for (Index j = 0; j < count; ++j) {
      add_product(sums[static_cast<std::size_t>(j)], entry, X(A.columns[k], first + j));
    }
  }
}

}  // namespace

template <Scalar T>
void accurate_residual(HostContext& context, const CsrView<T, HostSpace>& A,
                       const CsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       const double* theta, BlockView<T, HostSpace> R) {
  parallel_for(context.threads(), A.rows, [&](Index i) {
    for (Index first = 0; first < X.cols(); first += kColumns) {
      const Index count = std::min(kColumns, X.cols() - first);
      Sums AX{}, BX{};
      multiply_row(A, i, X, first, count, AX);
      if (B != nullptr) multiply_row(*B, i, X, first, count, BX);
      for (Index j = 0; j < count; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (B == nullptr) BX[at].high = X(i, first + j);
        add_product(AX[at], -theta[first + j], BX[at]);
        R(i, first + j) = static_cast<T>(AX[at].high + AX[at].low);
      }
    }
  });
}

template void accurate_residual(HostContext&, const CsrView<float, HostSpace>&,
                                const CsrView<float, HostSpace>*, ConstBlockView<float, HostSpace>,
                                const double*, BlockView<float, HostSpace>);
template void accurate_residual(HostContext&, const CsrView<double, HostSpace>&,
                                const CsrView<double, HostSpace>*,
                                ConstBlockView<double, HostSpace>, const double*,
                                BlockView<double, HostSpace>);

}  // namespace heddle::detail
