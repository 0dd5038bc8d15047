#include <fmt/format.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/small/small_dense.hpp>

/// Products of blocks: the operands are checked here, and the kernels for the instruction set of
/// the CPU do the rest.
namespace heddle {
namespace {

template <class T>
void run(HostContext& context, const RowProduct<T>& product) {
  with_host_isa([&](auto isa) { multiply_kernel<isa(), T>(context, product); });
}

/// Y = α X C + β W for operands that are checked here.
template <class T>
RowProduct<T> checked_product(double alpha, const ConstBlockView<T, HostSpace>& X,
                              const ConstSmallView<double, HostSpace>& C, double beta,
                              const ConstBlockView<T, HostSpace>& W,
                              const BlockView<T, HostSpace>& Y) {
  require_multiply_shapes(X, C, Y);
  require_same_shape<T, HostSpace>("multiply", W, Y);
  return row_product<T>(alpha, X, C, beta, W, Y);
}

/// A product of two columns is a dot product.
template <class T>
void dot(HostContext& context, const ConstBlockView<T, HostSpace>& X,
         const ConstBlockView<T, HostSpace>& Y, SmallView<double, HostSpace> G) {
  with_host_isa([&](auto isa) { dots_kernel<isa(), T>(context, X, Y, G); });
  context.profile().count(same_block(X, Y) ? bytes(X) : bytes(X) + bytes(Y), 2 * entries(X));
}

}  // namespace

template <RealScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<double, HostSpace> G) {
  require_gram_shapes(X, Y, G);
  if (X.cols() == 1 && Y.cols() == 1) {
    dot<T>(context, X, Y, G);
  } else {
    const std::array<GramProduct<T>, 1> product{{{Y, G}}};
    with_host_isa([&](auto isa) { gram_kernel<isa(), T>(context, X, product); });
  }
  sum_over_processes(context, {G});
}

template <RealScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<double, HostSpace> G, ConstBlockView<T, HostSpace> Z,
          SmallView<double, HostSpace> H) {
  require_gram_shapes(X, Y, G);
  require_gram_shapes(X, Z, H);
  if (X.cols() == 1 && Y.cols() == 1 && Z.cols() == 1) {
    dot<T>(context, X, Y, G);
    dot<T>(context, X, Z, H);
  } else {
    const std::array<GramProduct<T>, 2> products{{{Y, G}, {Z, H}}};
    with_host_isa([&](auto isa) { gram_kernel<isa(), T>(context, X, products); });
  }
  sum_over_processes(context, {G, H});
}

template <RealScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<double, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
              BlockView<T, HostSpace> Y) {
  const RowProduct<T> product = checked_product<T>(alpha, X, C, beta, W, Y);
  if (Y.empty()) return;
  run(context, product);
  context.profile().count(bytes(X) + (beta == 0 ? 1 : 2) * bytes(Y),
                          2 * entries(X) * static_cast<double>(Y.cols()));
}

template <RealScalar T>
void multiply_and_copy(HostContext& context, ConstBlockView<T, HostSpace> X,
                       ConstSmallView<double, HostSpace> C, BlockView<T, HostSpace> Y,
                       BlockView<T, HostSpace> Z) {
  RowProduct<T> product = checked_product<T>(1, X, C, 0, Y, Y);
  require_same_shape<T, HostSpace>("multiply_and_copy", Y, Z);
  if (Y.empty()) return;
  product.copy = Z.data();
  product.copy_ld = Z.ld();
  run(context, product);
  context.profile().count(bytes(X) + 2 * bytes(Y), 2 * entries(X) * static_cast<double>(Y.cols()));
}

template <RealScalar T>
void multiply_gram(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
                   ConstSmallView<double, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
                   BlockView<T, HostSpace> Y, ConstBlockView<T, HostSpace> Z,
                   SmallView<double, HostSpace> G) {
  const RowProduct<T> product = checked_product<T>(alpha, X, C, beta, W, Y);
  require_gram_shapes(Z, ConstBlockView<T, HostSpace>(Y), G);
  if (Y.cols() == 1 && Z.cols() == 1) {
    multiply<T>(context, alpha, X, C, beta, W, Y);
    dot<T>(context, Z, Y, G);
  } else {
    with_host_isa([&](auto isa) { multiply_gram_kernel<isa(), T>(context, product, Z, {Y, G}); });
  }
  sum_over_processes(context, {G});
}

void gram(HostContext& context, ConstBlockView<double, HostSpace> X,
          const ScaledView<float, HostSpace>& Z, SmallView<double, HostSpace> G) {
  require_gram_shapes(X, shape_of(Z), G);
  const std::array<GramProduct<double>, 1> product{{{shape_of(Z), G, &Z}}};
  with_host_isa([&](auto isa) { gram_kernel<isa(), double>(context, X, product); });
  sum_over_processes(context, {G});
}

void multiply_gram(HostContext& context, double alpha, ConstBlockView<double, HostSpace> X,
                   ConstSmallView<double, HostSpace> C, double beta,
                   const ScaledView<float, HostSpace>& Z, BlockView<double, HostSpace> Y,
                   ConstBlockView<double, HostSpace> W, SmallView<double, HostSpace> G) {
  RowProduct<double> product = checked_product<double>(alpha, X, C, beta, Y, Y);
  require_same_shape("multiply_gram", shape_of(Z), Y);
  require_gram_shapes(W, ConstBlockView<double, HostSpace>(Y), G);
  product.scaled = &Z;
  with_host_isa([&](auto isa) {
    multiply_gram_kernel<isa(), double>(context, product, W, {Y, G});
  });
  sum_over_processes(context, {G});
}

void column_dots(HostContext& context, ConstBlockView<double, HostSpace> X,
                 const ScaledView<float, HostSpace>& Z, SmallView<double, HostSpace> dots) {
  require_same_shape("column_dots", X, shape_of(Z));
  require_one_per_column("column_dots", dots, X.cols());
  with_host_isa([&](auto isa) { scaled_dots_kernel<isa()>(context, X, Z, dots); });
  sum_over_processes(context, {dots});
  context.profile().count(bytes(X) + bytes(Z.block), 4 * entries(X));
}

void small_multiply(HostContext& context, double alpha, ConstSmallView<double, HostSpace> A,
                    bool transpose_a, ConstSmallView<double, HostSpace> B, bool transpose_b,
                    double beta, SmallView<double, HostSpace> C) {
  const Index inner = transpose_a ? A.rows : A.cols;
  if ((transpose_a ? A.cols : A.rows) != C.rows || (transpose_b ? B.cols : B.rows) != inner ||
      (transpose_b ? B.rows : B.cols) != C.cols) {
    throw InvalidArgument(
        fmt::format("small_multiply: C = op(A) op(B) with A {}x{}{}, B {}x{}{}, C {}x{}", A.rows,
                    A.cols, transpose_a ? " transposed" : "", B.rows, B.cols,
                    transpose_b ? " transposed" : "", C.rows, C.cols));
  }
  // The columns of C are the rows of Cᵀ = op(B)ᵀ op(A)ᵀ, row-major.
  const Strided<double> B_rows =
      transpose_b ? Strided<double>{B.data, 1, B.ld} : Strided<double>{B.data, B.ld, 1};
  const Strided<double> A_rows =
      transpose_a ? Strided<double>{A.data, 1, A.ld} : Strided<double>{A.data, A.ld, 1};
  if (C.rows == 0 || C.cols == 0) return;
  run(context, RowProduct<double>{.n = C.cols,
                                  .a = inner,
                                  .b = C.rows,
                                  .alpha = alpha,
                                  .X = B_rows,
                                  .C = A_rows,
                                  .beta = beta,
                                  .w = C.data,
                                  .w_ld = C.ld,
                                  .y = C.data,
                                  .y_ld = C.ld});
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template void gram(HostContext&, ConstBlockView<T, HostSpace>, ConstBlockView<T, HostSpace>,    \
                     SmallView<double, HostSpace>);                                               \
  template void gram(HostContext&, ConstBlockView<T, HostSpace>, ConstBlockView<T, HostSpace>,    \
                     SmallView<double, HostSpace>, ConstBlockView<T, HostSpace>,                  \
                     SmallView<double, HostSpace>);                                               \
  template void multiply(HostContext&, double, ConstBlockView<T, HostSpace>,                      \
                         ConstSmallView<double, HostSpace>, double, ConstBlockView<T, HostSpace>, \
                         BlockView<T, HostSpace>);                                                \
  template void multiply_and_copy(HostContext&, ConstBlockView<T, HostSpace>,                     \
                                  ConstSmallView<double, HostSpace>, BlockView<T, HostSpace>,     \
                                  BlockView<T, HostSpace>);                                       \
  template void multiply_gram(HostContext&, double, ConstBlockView<T, HostSpace>,                 \
                              ConstSmallView<double, HostSpace>, double,                          \
                              ConstBlockView<T, HostSpace>, BlockView<T, HostSpace>,              \
                              ConstBlockView<T, HostSpace>, SmallView<double, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
