#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {
namespace {

template <class T>
using ConstBlock = ConstBlockView<T, HostSpace>;
template <class T>
using Block = BlockView<T, HostSpace>;
template <class W>
using ConstSmall = ConstSmallView<W, HostSpace>;
template <class W>
using Small = SmallView<W, HostSpace>;

/// Memory for small real matrices beside an operation of the real blocks.
double* numbers(HostContext& context, Index count) {
  return static_cast<double*>(
      context.outer_scratch(static_cast<std::size_t>(count) * sizeof(double)));
}

/// G(i, j) = conj(xᵢ)·yⱼ from the products of the parts of x and y.
template <class W>
void fold_gram(Small<double> parts, Small<W> G) {
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i < G.rows; ++i) {
      G(i, j) = {parts(2 * i, 2 * j) + parts(2 * i + 1, 2 * j + 1),
                 parts(2 * i, 2 * j + 1) - parts(2 * i + 1, 2 * j)};
    }
  }
}

/// The matrix that acts on interleaved parts as C does on complex numbers, 2a×2b.
template <class W>
Small<double> real_form(ConstSmall<W> C, double* memory) {
  const Small<double> R{memory, 2 * C.rows, 2 * C.cols, 2 * C.rows};
  for (Index j = 0; j < C.cols; ++j) {
    for (Index i = 0; i < C.rows; ++i) {
      const W c = C(i, j);
      R(2 * i, 2 * j) = R(2 * i + 1, 2 * j + 1) = c.real();
      R(2 * i, 2 * j + 1) = c.imag();
      R(2 * i + 1, 2 * j) = -c.imag();
    }
  }
  return R;
}

/// norms(j, 0) = √(a² + b²) of the norms a and b of the parts of column j.
void fold_norms(ConstSmall<double> parts, Small<double> norms) {
  for (Index j = 0; j < norms.rows; ++j) {
    norms(j, 0) = std::hypot(parts(2 * j, 0), parts(2 * j + 1, 0));
  }
}

/// Each number twice, for both parts.
Small<double> doubled(ConstSmall<double> values, double* memory) {
  const Small<double> twice{memory, 2 * values.rows, 1, 2 * values.rows};
  for (Index j = 0; j < values.rows; ++j) twice(2 * j, 0) = twice(2 * j + 1, 0) = values(j, 0);
  return twice;
}

}  // namespace

template <ComplexScalar T>
void set_zero(HostContext& context, BlockView<T, HostSpace> X) {
  set_zero<RealOf<T>>(context, real_view(X));
}

template <ComplexScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row) {
  set_zero<T>(context, X);
  for (Index i = 0; i < std::min(X.rows(), X.cols() - first_row); ++i) X(i, first_row + i) = 1;
}

template <ComplexScalar T>
void copy(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("copy", X, Y);
  copy<RealOf<T>>(context, real_view(X), real_view(Y));
}

template <ComplexScalar T>
void fill_random(HostContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, HostSpace> X, Index first_row) {
  fill_random<RealOf<T>>(context, seed, stream, real_view(X), first_row);
}

template <ComplexScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G) {
  require_gram_shapes(X, Y, G);
  const Small<double> parts{numbers(context, 4 * G.rows * G.cols), 2 * G.rows, 2 * G.cols,
                            2 * G.rows};
  gram<RealOf<T>>(context, real_view(X), real_view(Y), parts);
  fold_gram(parts, G);
}

template <ComplexScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G, ConstBlockView<T, HostSpace> Z,
          SmallView<Wide<T>, HostSpace> H) {
  require_gram_shapes(X, Y, G);
  require_gram_shapes(X, Z, H);
  double* const memory = numbers(context, 4 * (G.rows * G.cols + H.rows * H.cols));
  const Small<double> G_parts{memory, 2 * G.rows, 2 * G.cols, 2 * G.rows};
  const Small<double> H_parts{memory + 4 * G.rows * G.cols, 2 * H.rows, 2 * H.cols, 2 * H.rows};
  gram<RealOf<T>>(context, real_view(X), real_view(Y), G_parts, real_view(Z), H_parts);
  fold_gram(G_parts, G);
  fold_gram(H_parts, H);
}

template <ComplexScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
              BlockView<T, HostSpace> Y) {
  require_multiply_shapes(X, C, Y);
  require_same_shape<T, HostSpace>("multiply", W, Y);
  if (Y.empty()) return;
  const Small<double> R = real_form(C, numbers(context, 4 * C.rows * C.cols));
  multiply<RealOf<T>>(context, alpha, real_view(X), R, beta, real_view(W), real_view(Y));
}

template <ComplexScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, BlockView<T, HostSpace> Y,
              SmallView<double, HostSpace> norms) {
  multiply<T>(context, alpha, X, C, beta, Y);
  column_norms<T>(context, Y, norms);
}

template <ComplexScalar T>
void axpby(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X, double beta,
           BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("axpby", X, Y);
  axpby<RealOf<T>>(context, alpha, real_view(X), beta, real_view(Y));
}

template <ComplexScalar T>
void column_norms(HostContext& context, ConstBlockView<T, HostSpace> X,
                  SmallView<double, HostSpace> norms) {
  require_one_per_column("column_norms", norms, X.cols());
  const Small<double> parts{numbers(context, 2 * X.cols()), 2 * X.cols(), 1, 2 * X.cols()};
  column_norms<RealOf<T>>(context, real_view(X), parts);
  fold_norms(parts, norms);
}

template <ComplexScalar T>
void column_dots(HostContext& context, ConstBlockView<T, HostSpace> X,
                 ConstBlockView<T, HostSpace> Y, SmallView<double, HostSpace> dots) {
  require_same_shape("column_dots", X, Y);
  require_one_per_column("column_dots", dots, X.cols());
  const Small<double> parts{numbers(context, 2 * X.cols()), 2 * X.cols(), 1, 2 * X.cols()};
  column_dots<RealOf<T>>(context, real_view(X), real_view(Y), parts);
  for (Index j = 0; j < X.cols(); ++j) dots(j, 0) = parts(2 * j, 0) + parts(2 * j + 1, 0);
}

template <ComplexScalar T>
void weighted_squares(HostContext& context, ConstBlockView<T, HostSpace> weights,
                      ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> sums) {
  require_same_shape("weighted_squares", weights, ConstBlock<T>(X.data(), X.rows(), 1, X.ld()));
  require_one_per_column("weighted_squares", sums, X.cols());
  const Index b = X.cols();
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  const double* partial = per_slab(context, slabs, b, [&](Index first, Index end, double* sum) {
    add_rows(
        first, end, b,
        [&](Index i, Index j) {
          return static_cast<double>(weights(i, 0).real()) * static_cast<double>(squared(X(i, j)));
        },
        sum);
  });
  add_slabs(slabs, partial, sums);
  sum_over_processes(context, {sums});
  context.profile().count(bytes(weights) + bytes(X), 5 * entries(X));
}

template <ComplexScalar T>
void scale_columns(HostContext& context, ConstSmallView<double, HostSpace> factors,
                   BlockView<T, HostSpace> X) {
  require_one_per_column("scale_columns", factors, X.cols());
  const Small<double> twice = doubled(factors, numbers(context, 2 * X.cols()));
  scale_columns<RealOf<T>>(context, twice, real_view(X));
}

template <ComplexScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("scale_rows", X, Y);
  require_same_shape("scale_rows", factors, ConstBlock<T>(X.data(), X.rows(), 1, X.ld()));
  for_each_row<T>(context, X, [&](Index i) {
    const T factor = factors(i, 0);
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = product(factor, X(i, j));
  });
  context.profile().count(bytes(factors) + 2 * bytes(X), 6 * entries(X));
}

template <ComplexScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("reciprocals", X, Y);
  for_each_row<T>(context, X, [&](Index i) {
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = RealOf<T>{1} / X(i, j);
  });
  context.profile().count(2 * bytes(X), 6 * entries(X));
}

template <ComplexScalar T>
void residual(HostContext& context, ConstBlockView<T, HostSpace> AX,
              ConstBlockView<T, HostSpace> BX, ConstSmallView<double, HostSpace> theta,
              BlockView<T, HostSpace> R, SmallView<double, HostSpace> norms) {
  require_same_shape("residual", AX, BX);
  require_same_shape<T, HostSpace>("residual", AX, R);
  require_one_per_column("residual", theta, AX.cols());
  require_one_per_column("residual", norms, AX.cols());
  const Index b = AX.cols();
  double* const memory = numbers(context, 4 * b);
  const Small<double> twice = doubled(theta, memory);
  const Small<double> parts{memory + 2 * b, 2 * b, 1, 2 * b};
  residual<RealOf<T>>(context, real_view(AX), real_view(BX), twice, real_view(R), parts);
  fold_norms(parts, norms);
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void set_zero(HostContext&, Block<T>);                                                  \
  template void set_identity(HostContext&, Block<T>, Index);                                       \
  template void copy(HostContext&, ConstBlock<T>, Block<T>);                                       \
  template void fill_random(HostContext&, std::uint64_t, std::uint64_t, Block<T>, Index);          \
  template void gram(HostContext&, ConstBlock<T>, ConstBlock<T>, Small<Wide<T>>);                  \
  template void gram(HostContext&, ConstBlock<T>, ConstBlock<T>, Small<Wide<T>>, ConstBlock<T>,    \
                     Small<Wide<T>>);                                                              \
  template void multiply(HostContext&, double, ConstBlock<T>, ConstSmall<Wide<T>>, double,         \
                         ConstBlock<T>, Block<T>);                                                 \
  template void multiply(HostContext&, double, ConstBlock<T>, ConstSmall<Wide<T>>, double,         \
                         Block<T>, Small<double>);                                                 \
  template void axpby(HostContext&, double, ConstBlock<T>, double, Block<T>);                      \
  template void column_norms(HostContext&, ConstBlock<T>, Small<double>);                          \
  template void column_dots(HostContext&, ConstBlock<T>, ConstBlock<T>, Small<double>);            \
  template void weighted_squares(HostContext&, ConstBlock<T>, ConstBlock<T>, Small<double>);       \
  template void scale_columns(HostContext&, ConstSmall<double>, Block<T>);                         \
  template void scale_rows(HostContext&, ConstBlock<T>, ConstBlock<T>, Block<T>);                  \
  template void reciprocals(HostContext&, ConstBlock<T>, Block<T>);                                \
  template void residual(HostContext&, ConstBlock<T>, ConstBlock<T>, ConstSmall<double>, Block<T>, \
                         Small<double>);
HEDDLE_FOR_EACH_COMPLEX(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
