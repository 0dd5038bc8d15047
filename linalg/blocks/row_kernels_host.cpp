#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
#include <heddle/linalg/blocks/scaled_rows.hpp>
#include <heddle/linalg/context/instantiate.hpp>

namespace heddle {
namespace {

template <class T>
using ConstBlock = ConstBlockView<T, HostSpace>;
template <class T>
using Block = BlockView<T, HostSpace>;
using Small = SmallView<double, HostSpace>;

/// sums(j, 0) = Σ_i term(i, j) over n rows. `term` is called once per entry.
template <class Term>
void sum_columns(HostContext& context, Index n, const Term& term, Small sums) {
  const Index b = sums.rows;
  const Slabs slabs = make_slabs(n, kMinSlabRows);
  const double* partial = per_slab(context, slabs, b, [&](Index first, Index end, double* sum) {
    add_rows(first, end, b, term, sum);
  });
  add_slabs(slabs, partial, sums);
}

/// A column without gaps is summed as `kParts` columns, each of which has every 16th of its
/// entries, so that the entries fill vectors.
constexpr Index kParts = 16;

template <class T>
bool is_column(const ConstBlock<T>& X) {
  return X.cols() == 1 && has_no_gaps(X);
}

/// The first whole rows of `kParts` entries of a column, by rows.
template <class T>
ConstBlock<T> in_parts(const ConstBlock<T>& X) {
  return {X.data(), X.rows() / kParts, kParts, kParts};
}

/// sum(0, 0) = Σ_i term(i) over n entries of a column. `sum_parts(sums)` computes the sums of its
/// parts.
template <class SumParts, class Term>
void sum_column(Index n, const SumParts& sum_parts, const Term& term, Small sum) {
  double parts[kParts];
  sum_parts(Small{parts, kParts, 1, kParts});
  double total = 0;
  for (const double part : parts) total += part;
  for (Index i = n / kParts * kParts; i < n; ++i) total += term(i);
  sum(0, 0) = total;
}

}  // namespace

template <Isa kVariant, Scalar T>
void squares_kernel(HostContext& context, const ConstBlock<T>& X, Small sums) {
  if (is_column(X)) return dots_kernel<kVariant, T>(context, X, X, sums);
  sum_columns(
      context, X.rows(),
      [&](Index i, Index j) {
        const double x = static_cast<double>(X(i, j));
        return x * x;
      },
      sums);
}

template <Isa kVariant, Scalar T>
void weighted_squares_kernel(HostContext& context, const ConstBlock<T>& weights,
                             const ConstBlock<T>& X, Small sums) {
  sum_columns(
      context, X.rows(),
      [&](Index i, Index j) {
        const double x = static_cast<double>(X(i, j));
        return static_cast<double>(weights(i, 0)) * x * x;
      },
      sums);
}

template <Isa kVariant, Scalar T>
void dots_kernel(HostContext& context, const ConstBlock<T>& X, const ConstBlock<T>& Y, Small dots) {
  if (is_column(X) && is_column(Y)) {
    const auto sum_parts = [&](Small sums) {
      dots_kernel<kVariant, T>(context, in_parts(X), in_parts(Y), sums);
    };
    const auto term = [&](Index i) {
      return static_cast<double>(X(i, 0)) * static_cast<double>(Y(i, 0));
    };
    return sum_column(X.rows(), sum_parts, term, dots);
  }
  sum_columns(
      context, X.rows(),
      [&](Index i, Index j) { return static_cast<double>(X(i, j)) * static_cast<double>(Y(i, j)); },
      dots);
}

template <Isa kVariant>
void scaled_dots_kernel(HostContext& context, const ConstBlock<double>& X,
                        const ScaledView<float, HostSpace>& Z, Small dots) {
  sum_columns(
      context, X.rows(),
      [x = X.data(), ld = X.ld(), z = ScaledEntries(Z)](Index i, Index j) {
        return x[i * ld + j] * z(i, j);
      },
      dots);
}

template <Isa kVariant, Scalar T>
void residual_kernel(HostContext& context, const ConstBlock<T>& AX, const ConstBlock<T>& BX,
                     const double* theta, const Block<T>& R, Small squares) {
  const T* ax = AX.data();
  const T* bx = BX.data();
  T* out = R.data();
  sum_columns(
      context, AX.rows(),
      [=, ax_ld = AX.ld(), bx_ld = BX.ld(), r_ld = R.ld()](Index i, Index j) {
        const double r = static_cast<double>(ax[i * ax_ld + j]) -
                         static_cast<double>(bx[i * bx_ld + j]) * theta[j];
        const T rounded = static_cast<T>(r);
        out[i * r_ld + j] = rounded;
        return static_cast<double>(rounded) * static_cast<double>(rounded);
      },
      squares);
}

template <Isa kVariant, Scalar T>
void scale_columns_kernel(HostContext& context, const double* factors, const Block<T>& X) {
  for_each_row<T>(context, X, [&](Index i) {
    T* x = &X(i, 0);
    for (Index j = 0; j < X.cols(); ++j) {
      x[j] = static_cast<T>(static_cast<double>(x[j]) * factors[j]);
    }
  });
}

template <Isa kVariant, Scalar T>
void scale_rows_kernel(HostContext& context, const ConstBlock<T>& factors, const ConstBlock<T>& X,
                       const Block<T>& Y) {
  if (is_column(X) && is_column<T>(Y) && is_column(factors)) {
    for_each_stretch(context, X, true, [&](Index i, Index entries) {
      const T* factor = &factors(i, 0);
      const T* x = &X(i, 0);
      T* y = &Y(i, 0);
#pragma omp simd
      for (Index k = 0; k < entries; ++k) y[k] = factor[k] * x[k];
    });
    return;
  }
  for_each_row(context, X, [&](Index i) {
    const T factor = factors(i, 0);
    const T* x = &X(i, 0);
    T* y = &Y(i, 0);
#pragma omp simd
    for (Index j = 0; j < X.cols(); ++j) y[j] = factor * x[j];
  });
}

template <Isa kVariant, Scalar T>
void axpby_kernel(HostContext& context, double alpha, const ConstBlock<T>& X, double beta,
                  const Block<T>& Y) {
  const T a = static_cast<T>(alpha);
  const T b = static_cast<T>(beta);
  const bool together = has_no_gaps(X) && has_no_gaps<T>(Y);
  for_each_stretch(context, X, together, [&](Index i, Index entries) {
    const T* x = &X(i, 0);
    T* y = &Y(i, 0);
    if (b == T{0}) {
#pragma omp simd
      for (Index j = 0; j < entries; ++j) y[j] = a * x[j];
    } else {
#pragma omp simd
      for (Index j = 0; j < entries; ++j) y[j] = a * x[j] + b * y[j];
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void squares_kernel<kIsa, T>(HostContext&, const ConstBlock<T>&, Small);                \
  template void weighted_squares_kernel<kIsa, T>(HostContext&, const ConstBlock<T>&,               \
                                                 const ConstBlock<T>&, Small);                     \
  template void dots_kernel<kIsa, T>(HostContext&, const ConstBlock<T>&, const ConstBlock<T>&,     \
                                     Small);                                                       \
  template void residual_kernel<kIsa, T>(HostContext&, const ConstBlock<T>&, const ConstBlock<T>&, \
                                         const double*, const Block<T>&, Small);                   \
  template void scale_columns_kernel<kIsa, T>(HostContext&, const double*, const Block<T>&);       \
  template void scale_rows_kernel<kIsa, T>(HostContext&, const ConstBlock<T>&,                     \
                                           const ConstBlock<T>&, const Block<T>&);                 \
  template void axpby_kernel<kIsa, T>(HostContext&, double, const ConstBlock<T>&, double,          \
                                      const Block<T>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

template void scaled_dots_kernel<kIsa>(HostContext&, const ConstBlock<double>&,
                                       const ScaledView<float, HostSpace>&, Small);

}  // namespace heddle
