#include <array>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>

namespace heddle {
namespace {

/// A sum of products as `high` + `low`, with twice the digits of a double.
struct LongSum {
  double high = 0;
  double low = 0;

  /// Adds a b. The product comes from fma, which no compiler merges with the addition after it.
  void add_product(double a, double b) noexcept {
    const double product = std::fma(a, b, 0.0);
    const double sum = high + product;
    const double part = sum - high;
    low += ((high - (sum - part)) + (product - part)) + std::fma(a, b, -product);
    high = sum;
  }

  /// Adds a s.
  void add_product(double a, const LongSum& s) noexcept {
    add_product(a, s.high);
    add_product(a, s.low);
  }

  double rounded() const noexcept { return high + low; }
};

/// The sum of products of scalars: one of doubles, or one for each part of complex numbers.
template <WideScalar W>
struct ScalarSum {
  LongSum sum;

  void add_product(double a, double x) noexcept { sum.add_product(a, x); }
  void add_product(double a, const ScalarSum& s) noexcept { sum.add_product(a, s.sum); }
  double rounded() const noexcept { return sum.rounded(); }
};

template <>
struct ScalarSum<std::complex<double>> {
  LongSum real, imag;

  void add_product(std::complex<double> a, std::complex<double> x) noexcept {
    real.add_product(a.real(), x.real());
    real.add_product(-a.imag(), x.imag());
    imag.add_product(a.real(), x.imag());
    imag.add_product(a.imag(), x.real());
  }
  void add_product(double a, const ScalarSum& s) noexcept {
    real.add_product(a, s.real);
    imag.add_product(a, s.imag);
  }
  std::complex<double> rounded() const noexcept { return {real.rounded(), imag.rounded()}; }
};

constexpr Index kColumns = 8;  // of X that a pass over a row takes

template <Scalar T>
using Sums = std::array<ScalarSum<Wide<T>>, kColumns>;

/// sums_c += Σ_j M(row, j) X(j, c) for each column c of X.
template <Scalar T>
void add_row(const CsrView<T, HostSpace>& M, Index row, ConstBlockView<T, HostSpace> X,
             Sums<T>& sums) {
  for (std::int64_t entry = M.row_offsets[row]; entry < M.row_offsets[row + 1]; ++entry) {
    const auto a = static_cast<Wide<T>>(M.values[entry]);
    for (Index c = 0; c < X.cols(); ++c) {
      sums[static_cast<std::size_t>(c)].add_product(a,
                                                    static_cast<Wide<T>>(X(M.columns[entry], c)));
    }
  }
}

}  // namespace

template <Scalar T>
void accurate_residual(HostContext& context, CsrView<T, HostSpace> A,
                       const CsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       std::span<const double> theta, BlockView<T, HostSpace> R) {
  require_same_shape("accurate_residual", X, R);
  require_same_shape("accurate_residual", Shape{A.rows, A.cols}, Shape{X.rows(), X.rows()});
  require_one_per_column("accurate_residual", Shape{std::ssize(theta), 1}, X.cols());
  parallel_for(context.threads(), A.rows, [&](Index row) {
    for (Index first = 0; first < X.cols(); first += kColumns) {
      const auto part = X.columns(first, std::min(kColumns, X.cols() - first));
      Sums<T> of_A, of_B;
      add_row(A, row, part, of_A);
      if (B != nullptr) add_row(*B, row, part, of_B);
      for (Index c = 0; c < part.cols(); ++c) {
        const auto column = static_cast<std::size_t>(c);
        if (B == nullptr) of_B[column].add_product(Wide<T>{1}, static_cast<Wide<T>>(part(row, c)));
        of_A[column].add_product(-theta[static_cast<std::size_t>(first + c)], of_B[column]);
        R(row, first + c) = static_cast<T>(of_A[column].rounded());
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                 \
  template void accurate_residual(HostContext&, CsrView<T, HostSpace>,                        \
                                  const CsrView<T, HostSpace>*, ConstBlockView<T, HostSpace>, \
                                  std::span<const double>, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
