#pragma once

#include <cmath>
#include <complex>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/data/views.hpp>
#include <optional>
#include <span>

#ifdef __CUDACC__
#define HEDDLE_ON_BOTH __host__ __device__
#else
#define HEDDLE_ON_BOTH
#endif

/// Sums of products with twice the digits of a double, for the host and for GPUs.
namespace heddle::detail {

/// A sum of products as `high` + `low`.
struct LongSum {
  double high = 0;
  double low = 0;

  /// Adds a b. The product comes from fma, which no compiler merges with the addition after it.
  HEDDLE_ON_BOTH void add_product(double a, double b) noexcept {
    const double product = std::fma(a, b, 0.0);
    const double sum = high + product;
    const double part = sum - high;
    low += ((high - (sum - part)) + (product - part)) + std::fma(a, b, -product);
    high = sum;
  }

  /// Adds a s.
  HEDDLE_ON_BOTH void add_product(double a, const LongSum& s) noexcept {
    add_product(a, s.high);
    add_product(a, s.low);
  }

  HEDDLE_ON_BOTH double rounded() const noexcept { return high + low; }
};

/// The sum of products of scalars: one of doubles, or one for each part of complex numbers.
template <Scalar T>
struct ScalarSum {
  LongSum sum;

  HEDDLE_ON_BOTH void add_product(T a, T x) noexcept {
    sum.add_product(static_cast<double>(a), static_cast<double>(x));
  }
  HEDDLE_ON_BOTH void add_product(double a, const ScalarSum& s) noexcept {
    sum.add_product(a, s.sum);
  }
  HEDDLE_ON_BOTH void add(T x) noexcept { sum.add_product(1, static_cast<double>(x)); }
  HEDDLE_ON_BOTH T rounded() const noexcept { return static_cast<T>(sum.rounded()); }
};

template <>
struct ScalarSum<std::complex<double>> {
  LongSum real, imag;

  HEDDLE_ON_BOTH void add_product(std::complex<double> a, std::complex<double> x) noexcept {
    real.add_product(a.real(), x.real());
    real.add_product(-a.imag(), x.imag());
    imag.add_product(a.real(), x.imag());
    imag.add_product(a.imag(), x.real());
  }
  HEDDLE_ON_BOTH void add_product(double a, const ScalarSum& s) noexcept {
    real.add_product(a, s.real);
    imag.add_product(a, s.imag);
  }
  HEDDLE_ON_BOTH void add(std::complex<double> x) noexcept {
    real.add_product(1, x.real());
    imag.add_product(1, x.imag());
  }
  HEDDLE_ON_BOTH std::complex<double> rounded() const noexcept {
    return {real.rounded(), imag.rounded()};
  }
};

/// A block X in row-major order: entry (i, c) is data[i·ld + c].
template <class T>
struct BlockEntries {
  const T* data = nullptr;
  Index ld = 0;
};

/// The rows of A, or of the identity, that this process holds, and the rows of X that they need.
template <Scalar T, class Space>
struct AccurateRows {
  bool identity = false;
  CsrView<T, Space> own{};
  CsrView<T, Space> remote{};          ///< entries in columns of other processes
  const std::int32_t* rows = nullptr;  ///< of `own` that the rows of `remote` belong to, ascending
  BlockEntries<T> X{};
  BlockEntries<T> halo{};  ///< the rows of X that `remote` is multiplied by

  /// sums[c] += (A X)(row, first + c) for c < count.
  HEDDLE_ON_BOTH void add(Index row, Index first, Index count, ScalarSum<T>* sums) const {
    if (identity) {
      for (Index c = 0; c < count; ++c) sums[c].add(X.data[row * X.ld + first + c]);
      return;
    }
    add(own, row, X, first, count, sums);
    if (remote.rows == 0) return;
    const Index place = remote_place(row);
    if (place < remote.rows && rows[place] == row) add(remote, place, halo, first, count, sums);
  }

 private:
  HEDDLE_ON_BOTH static void add(const CsrView<T, Space>& M, Index row, const BlockEntries<T>& Y,
                                 Index first, Index count, ScalarSum<T>* sums) {
    for (std::int64_t entry = M.row_offsets[row]; entry < M.row_offsets[row + 1]; ++entry) {
      const T a = M.values[entry];
      const T* y = Y.data + Index{M.columns[entry]} * Y.ld + first;
      for (Index c = 0; c < count; ++c) sums[c].add_product(a, y[c]);
    }
  }

  /// The number of rows of `remote` that belong to rows before `row`.
  HEDDLE_ON_BOTH Index remote_place(Index row) const {
    Index begin = 0, end = remote.rows;
    while (begin < end) {
      const Index middle = begin + (end - begin) / 2;
      if (rows[middle] < row) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

/// The rows of A X − B X diag(theta).
template <Scalar T, class Space>
struct AccurateResidual {
  AccurateRows<T, Space> A;
  AccurateRows<T, Space> B;

  /// r[c] = entry (row, first + c) of the residual for c < count, with count ≤ most and the values
  /// theta[c] of these columns.
  template <Index most>
  HEDDLE_ON_BOTH void row(Index row, Index first, Index count, const double* theta, T* r) const {
    ScalarSum<T> of_A[most], of_B[most];
    A.add(row, first, count, of_A);
    B.add(row, first, count, of_B);
    for (Index c = 0; c < count; ++c) {
      of_A[c].add_product(-theta[c], of_B[c]);
      r[c] = of_A[c].rounded();
    }
  }
};

/// The rows of a matrix, or of the identity if it is null, with X and the rows of X that its
/// entries in columns of other processes are multiplied by. All processes of the context make it
/// together.
template <Scalar T, class Ctx>
class RowsWithHalo {
 public:
  using Space = typename Ctx::Space;

  RowsWithHalo(Ctx& context, const DistributedCsrView<T, Space>* M,
               const ConstBlockView<T, Space>& X) {
    rows_.identity = M == nullptr;
    rows_.X = {X.data(), X.ld()};
    if (M == nullptr) return;
    rows_.own = M->own;
    if (!M->is_distributed()) return;
    exchange_.emplace(context, *M->remote->lists);
    exchange_->begin(context, X);
    const ConstBlockView<T, Space> halo = exchange_->end(context);
    rows_.remote = M->remote->entries.view();
    rows_.rows = M->remote->rows.data();
    rows_.halo = {halo.data(), halo.ld()};
  }

  const AccurateRows<T, Space>& rows() const noexcept { return rows_; }

 private:
  AccurateRows<T, Space> rows_;
  std::optional<HaloExchange<T, Ctx>> exchange_;  // holds the halo
};

/// Throws `InvalidArgument` if the shapes of `accurate_residual` do not fit.
template <Scalar T, class Space>
void check_accurate_residual(const DistributedCsrView<T, Space>& A,
                             const DistributedCsrView<T, Space>* B,
                             const ConstBlockView<T, Space>& X, std::span<const double> theta,
                             const ConstBlockView<T, Space>& R) {
  constexpr const char* kName = "accurate_residual";
  const Shape square{X.rows(), X.rows()};
  require_same_shape(kName, X, R);
  require_same_shape(kName, Shape{A.own.rows, A.own.cols}, square);
  if (B != nullptr) require_same_shape(kName, Shape{B->own.rows, B->own.cols}, square);
  require_one_per_column(kName, Shape{std::ssize(theta), 1}, X.cols());
}

}  // namespace heddle::detail
