#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <limits>

namespace heddle {
namespace {

template <class T>
using ConstBlock = ConstBlockView<T, HostSpace>;
template <class T>
using Block = BlockView<T, HostSpace>;
using ConstSmall = ConstSmallView<double, HostSpace>;
using Small = SmallView<double, HostSpace>;

/// Whether a sum of squares of doubles may have lost digits by overflow or underflow. False for
/// NaN.
bool out_of_range(double sum) {
  constexpr double kSmallest = 0x1p-930;
  return sum < kSmallest || sum == std::numeric_limits<double>::infinity();
}

/// norms(j, 0) = max_i |X(i, j)|; NaN entries do not count.
template <class T>
void column_maxima(HostContext& context, const ConstBlock<T>& X, Small norms) {
  const Index b = X.cols();
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  const double* partial = per_slab(context, slabs, b, [&](Index first, Index end, double* maxima) {
    for (Index i = first; i < end; ++i) {
      for (Index j = 0; j < b; ++j) {
        maxima[j] = std::max(maxima[j], std::abs(static_cast<double>(X(i, j))));
      }
    }
  });
  for (Index j = 0; j < b; ++j) {
    norms(j, 0) = 0;
    for (Index slab = 0; slab < slabs.count(); ++slab) {
      norms(j, 0) = std::max(norms(j, 0), partial[slab * b + j]);
    }
  }
}

/// The power of two that scales a column with this largest entry to entries near 1, limited such
/// that the scale and its inverse are both normal numbers.
int scaling_exponent(double maximum) {
  constexpr int kLimit = 1000;
  if (!std::isfinite(maximum)) return 0;
  return maximum > 0 ? std::clamp(std::ilogb(maximum), -kLimit, kLimit) : 0;
}

/// Combines the norms of the rows of each process to those of all rows, scaled against overflow.
void norms_over_processes(HostContext& context, Small norms) {
  if (context.processes() == nullptr) return;
  for (Index j = 0; j < norms.rows; ++j) {
    double largest = norms(j, 0);
    context.processes()->largest({&largest, 1});
    const double scale = std::ldexp(1.0, -scaling_exponent(largest));
    double square = norms(j, 0) * scale * (norms(j, 0) * scale);
    context.processes()->sum({&square, 1});
    norms(j, 0) = std::sqrt(square) / scale;
  }
}

/// The column norms of X, each column scaled by a power of two to entries of at most 2. Takes two
/// more passes over X.
template <class T>
void scaled_norms(HostContext& context, const ConstBlock<T>& X, Small norms) {
  const Index b = X.cols();
  column_maxima(context, X, norms);
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  const double* partial = per_slab(context, slabs, b, [&](Index first, Index end, double* sum) {
    for (Index j = 0; j < b; ++j) {
      const double scale = std::ldexp(1.0, -scaling_exponent(norms(j, 0)));
      for (Index i = first; i < end; ++i) {
        const double v = static_cast<double>(X(i, j)) * scale;
        sum[j] += v * v;
      }
    }
  });
  for (Index j = 0; j < b; ++j) {
    double sum = 0;
    for (Index slab = 0; slab < slabs.count(); ++slab) sum += partial[slab * b + j];
    norms(j, 0) = std::ldexp(std::sqrt(sum), scaling_exponent(norms(j, 0)));
  }
  norms_over_processes(context, norms);
}

/// Converts the sums of squares of X's columns into norms.
template <class T>
void norms_from_squares(HostContext& context, const ConstBlock<T>& X, Small norms) {
  bool rescale = false;
  for (Index j = 0; j < norms.rows; ++j) {
    rescale = rescale || out_of_range(norms(j, 0));
    norms(j, 0) = std::sqrt(norms(j, 0));
  }
  if (rescale && std::same_as<T, double>) scaled_norms(context, X, norms);
}

}  // namespace

template <RealScalar T>
void set_zero(HostContext& context, BlockView<T, HostSpace> X) {
  for_each_stretch<T>(context, X, has_no_gaps<T>(X),
                      [&](Index i, Index entries) { std::fill_n(&X(i, 0), entries, T{0}); });
  context.profile().count(bytes(X), 0);
}

template <RealScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row) {
  set_zero<T>(context, X);
  for (Index i = 0; i < std::min(X.rows(), X.cols() - first_row); ++i) X(i, first_row + i) = 1;
}

template <RealScalar T>
void copy(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape("copy", X, Y);
  const bool together = has_no_gaps(X) && has_no_gaps<T>(Y);
  for_each_stretch(context, X, together, [&](Index i, Index entries) {
    if (entries == 1) {  // a column with gaps: a call per number would take longer than the copy
      Y(i, 0) = X(i, 0);
    } else {
      std::copy_n(&X(i, 0), entries, &Y(i, 0));
    }
  });
  context.profile().count(2 * bytes(X), 0);
}

template <RealScalar T>
void fill_random(HostContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, HostSpace> X, Index first_row) {
  const std::int32_t* const numbers = context.row_numbers();
  for_each_row<T>(context, X, [&](Index i) {
    const Index number = numbers != nullptr ? numbers[i] : first_row + i;
    for (Index j = 0; j < X.cols(); j += 2) {
      const PhiloxBlock random = random_pair(seed, stream, number, j / 2);
      X(i, j) = static_cast<T>(signed_uniform(random.words[0], random.words[1]));
      if (j + 1 < X.cols()) {
        X(i, j + 1) = static_cast<T>(signed_uniform(random.words[2], random.words[3]));
      }
    }
  });
  context.profile().count(bytes(X), 0);
}

template <RealScalar T>
void column_norms(HostContext& context, ConstBlockView<T, HostSpace> X,
                  SmallView<double, HostSpace> norms) {
  require_one_per_column("column_norms", norms, X.cols());
  with_host_isa([&](auto isa) { squares_kernel<isa(), T>(context, X, norms); });
  sum_over_processes(context, {norms});
  norms_from_squares<T>(context, X, norms);
  context.profile().count(bytes(X), 2 * entries(X));
}

template <RealScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<double, HostSpace> C, double beta, BlockView<T, HostSpace> Y,
              SmallView<double, HostSpace> norms) {
  require_one_per_column("multiply", norms, Y.cols());
  if (Y.cols() <= 1 || Y.empty()) {  // a column has faster loops of its own
    multiply<T>(context, alpha, X, C, beta, Y);
    return column_norms<T>(context, Y, norms);
  }
  require_multiply_shapes(X, C, Y);
  const RowProduct<T> product = row_product<T>(alpha, X, C, beta, Y, Y);
  with_host_isa([&](auto isa) { multiply_kernel<isa(), T>(context, product, norms); });
  sum_over_processes(context, {norms});
  norms_from_squares<T>(context, Y, norms);
  context.profile().count(bytes(X) + (beta == 0 ? 1 : 2) * bytes<T, HostSpace>(Y),
                          2 * entries(X) * static_cast<double>(Y.cols()) + 2 * entries<T>(Y));
}

template <RealScalar T>
void column_dots(HostContext& context, ConstBlockView<T, HostSpace> X,
                 ConstBlockView<T, HostSpace> Y, SmallView<double, HostSpace> dots) {
  require_same_shape("column_dots", X, Y);
  require_one_per_column("column_dots", dots, X.cols());
  with_host_isa([&](auto isa) { dots_kernel<isa(), T>(context, X, Y, dots); });
  sum_over_processes(context, {dots});
  context.profile().count(2 * bytes(X), 2 * entries(X));
}

template <RealScalar T>
void weighted_squares(HostContext& context, ConstBlockView<T, HostSpace> weights,
                      ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> sums) {
  require_same_shape("weighted_squares", weights, ConstBlock<T>(X.data(), X.rows(), 1, X.ld()));
  require_one_per_column("weighted_squares", sums, X.cols());
  with_host_isa([&](auto isa) { weighted_squares_kernel<isa(), T>(context, weights, X, sums); });
  sum_over_processes(context, {sums});
  context.profile().count(bytes(weights) + bytes(X), 3 * entries(X));
}

template <RealScalar T>
void scale_columns(HostContext& context, ConstSmallView<double, HostSpace> factors,
                   BlockView<T, HostSpace> X) {
  require_one_per_column("scale_columns", factors, X.cols());
  with_host_isa([&](auto isa) { scale_columns_kernel<isa(), T>(context, factors.data, X); });
  context.profile().count(2 * bytes(X), entries(X));
}

template <RealScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape("scale_rows", X, Y);
  require_same_shape("scale_rows", factors, ConstBlock<T>(X.data(), X.rows(), 1, X.ld()));
  with_host_isa([&](auto isa) { scale_rows_kernel<isa(), T>(context, factors, X, Y); });
  context.profile().count(bytes(factors) + 2 * bytes(X), entries(X));
}

template <RealScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape("reciprocals", X, Y);
  for_each_row<T>(context, X, [&](Index i) {
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = 1 / X(i, j);
  });
  context.profile().count(2 * bytes(X), entries(X));
}

template <RealScalar T>
void axpby(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X, double beta,
           BlockView<T, HostSpace> Y) {
  require_same_shape("axpby", X, Y);
  with_host_isa([&](auto isa) { axpby_kernel<isa(), T>(context, alpha, X, beta, Y); });
  context.profile().count((beta == 0 ? 2 : 3) * bytes(X), (beta == 0 ? 1 : 3) * entries(X));
}

template <RealScalar T>
void residual(HostContext& context, ConstBlockView<T, HostSpace> AX,
              ConstBlockView<T, HostSpace> BX, ConstSmallView<double, HostSpace> theta,
              BlockView<T, HostSpace> R, SmallView<double, HostSpace> norms) {
  require_same_shape("residual", AX, BX);
  require_same_shape("residual", AX, R);
  require_one_per_column("residual", theta, AX.cols());
  require_one_per_column("residual", norms, AX.cols());
  with_host_isa(
      [&](auto isa) { residual_kernel<isa(), T>(context, AX, BX, theta.data, R, norms); });
  sum_over_processes(context, {norms});
  norms_from_squares<T>(context, R, norms);
  context.profile().count(3 * bytes(AX), 4 * entries(AX));
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template void set_zero(HostContext&, BlockView<T, HostSpace>);                             \
  template void set_identity(HostContext&, Block<T>, Index);                                 \
  template void copy(HostContext&, ConstBlock<T>, Block<T>);                                 \
  template void fill_random(HostContext&, std::uint64_t, std::uint64_t, Block<T>, Index);    \
  template void multiply(HostContext&, double, ConstBlockView<T, HostSpace>,                 \
                         ConstSmallView<double, HostSpace>, double, BlockView<T, HostSpace>, \
                         SmallView<double, HostSpace>);                                      \
  template void column_norms(HostContext&, ConstBlock<T>, Small);                            \
  template void column_dots(HostContext&, ConstBlock<T>, ConstBlock<T>, Small);              \
  template void weighted_squares(HostContext&, ConstBlock<T>, ConstBlock<T>, Small);         \
  template void scale_columns(HostContext&, ConstSmall, Block<T>);                           \
  template void scale_rows(HostContext&, ConstBlock<T>, ConstBlock<T>, Block<T>);            \
  template void reciprocals(HostContext&, ConstBlock<T>, Block<T>);                          \
  template void axpby(HostContext&, double, ConstBlock<T>, double, Block<T>);                \
  template void residual(HostContext&, ConstBlock<T>, ConstBlock<T>, ConstSmall, Block<T>, Small);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
