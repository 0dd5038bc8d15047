#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/small/real_form.hpp>

namespace heddle {
namespace {

/// Small real matrices in a second working memory of the context, which operations on real blocks
/// do not use.
template <class Ctx>
class Parts {
 public:
  using Small = SmallIn<Ctx, double>;

  /// Memory for `count` numbers.
  Parts(Ctx& context, Index count)
      : next_(static_cast<double*>(
            context.outer_scratch(static_cast<std::size_t>(count) * sizeof(double)))) {}

  Small take(Index rows, Index cols) {
    const Small taken{next_, rows, cols, rows};
    next_ += rows * cols;
    return taken;
  }

 private:
  double* next_;
};

}  // namespace

template <ComplexScalar T, class Ctx>
void set_zero(Ctx& context, BlockIn<Ctx, T> X) {
  set_zero<RealOf<T>>(context, real_view(X));
}

template <ComplexScalar T, class Ctx>
void copy(Ctx& context, ConstBlockIn<Ctx, T> X, BlockIn<Ctx, T> Y) {
  require_same_shape("copy", X, ConstBlockIn<Ctx, T>(Y));
  copy<RealOf<T>>(context, real_view(X), real_view(Y));
}

template <ComplexScalar T, class Ctx>
void fill_random(Ctx& context, std::uint64_t seed, std::uint64_t stream, BlockIn<Ctx, T> X,
                 Index first_row) {
  fill_random<RealOf<T>>(context, seed, stream, real_view(X), first_row);
}

template <ComplexScalar T, class Ctx>
void gram(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y, SmallIn<Ctx, Wide<T>> G) {
  require_gram_shapes(X, Y, G);
  const auto parts = Parts<Ctx>(context, 4 * G.rows * G.cols).take(2 * G.rows, 2 * G.cols);
  gram<RealOf<T>>(context, real_view(X), real_view(Y), parts);
  detail::fold_gram(context, parts, G);
}

template <ComplexScalar T, class Ctx>
void gram(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y, SmallIn<Ctx, Wide<T>> G,
          ConstBlockIn<Ctx, T> Z, SmallIn<Ctx, Wide<T>> H) {
  require_gram_shapes(X, Y, G);
  require_gram_shapes(X, Z, H);
  Parts<Ctx> parts(context, 4 * (G.rows * G.cols + H.rows * H.cols));
  const auto G_parts = parts.take(2 * G.rows, 2 * G.cols);
  const auto H_parts = parts.take(2 * H.rows, 2 * H.cols);
  gram<RealOf<T>>(context, real_view(X), real_view(Y), G_parts, real_view(Z), H_parts);
  detail::fold_gram(context, G_parts, G);
  detail::fold_gram(context, H_parts, H);
}

template <ComplexScalar T, class Ctx>
void multiply(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
              double beta, ConstBlockIn<Ctx, T> W, BlockIn<Ctx, T> Y) {
  const ConstBlockIn<Ctx, T> result = Y;
  require_multiply_shapes(X, C, result);
  require_same_shape("multiply", W, result);
  if (Y.empty()) return;
  const auto R = Parts<Ctx>(context, 4 * C.rows * C.cols).take(2 * C.rows, 2 * C.cols);
  detail::write_real_form(context, C, R);
  multiply<RealOf<T>>(context, alpha, real_view(X), R, beta, real_view(W), real_view(Y));
}

template <ComplexScalar T, class Ctx>
void multiply(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
              double beta, BlockIn<Ctx, T> Y, SmallIn<Ctx, double> norms) {
  multiply<T>(context, alpha, X, C, beta, Y);
  column_norms<T>(context, Y, norms);
}

template <ComplexScalar T, class Ctx>
void axpby(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, double beta, BlockIn<Ctx, T> Y) {
  require_same_shape("axpby", X, ConstBlockIn<Ctx, T>(Y));
  axpby<RealOf<T>>(context, alpha, real_view(X), beta, real_view(Y));
}

template <ComplexScalar T, class Ctx>
void column_norms(Ctx& context, ConstBlockIn<Ctx, T> X, SmallIn<Ctx, double> norms) {
  require_one_per_column("column_norms", norms, X.cols());
  const auto parts = Parts<Ctx>(context, 2 * X.cols()).take(2 * X.cols(), 1);
  column_norms<RealOf<T>>(context, real_view(X), parts);
  detail::fold_norms(context, parts, norms);
}

template <ComplexScalar T, class Ctx>
void column_dots(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y,
                 SmallIn<Ctx, double> dots) {
  require_same_shape("column_dots", X, Y);
  require_one_per_column("column_dots", dots, X.cols());
  const auto parts = Parts<Ctx>(context, 2 * X.cols()).take(2 * X.cols(), 1);
  column_dots<RealOf<T>>(context, real_view(X), real_view(Y), parts);
  detail::fold_sums(context, parts, dots);
}

template <ComplexScalar T, class Ctx>
void weighted_squares(Ctx& context, ConstBlockIn<Ctx, T> weights, ConstBlockIn<Ctx, T> X,
                      SmallIn<Ctx, double> sums) {
  require_same_shape("weighted_squares", weights,
                     ConstBlockIn<Ctx, T>(X.data(), X.rows(), 1, X.ld()));
  require_one_per_column("weighted_squares", sums, X.cols());
  const auto real = real_view(weights);
  const auto parts = Parts<Ctx>(context, 2 * X.cols()).take(2 * X.cols(), 1);
  weighted_squares<RealOf<T>>(context, {real.data(), real.rows(), 1, real.ld()}, real_view(X),
                              parts);
  detail::fold_sums(context, parts, sums);
}

template <ComplexScalar T, class Ctx>
void scale_columns(Ctx& context, ConstSmallIn<Ctx, double> factors, BlockIn<Ctx, T> X) {
  require_one_per_column("scale_columns", factors, X.cols());
  const auto twice = Parts<Ctx>(context, 2 * X.cols()).take(2 * X.cols(), 1);
  detail::write_twice(context, factors, twice);
  scale_columns<RealOf<T>>(context, twice, real_view(X));
}

template <ComplexScalar T, class Ctx>
void residual(Ctx& context, ConstBlockIn<Ctx, T> AX, ConstBlockIn<Ctx, T> BX,
              ConstSmallIn<Ctx, double> theta, BlockIn<Ctx, T> R, SmallIn<Ctx, double> norms) {
  require_same_shape("residual", AX, BX);
  require_same_shape("residual", AX, ConstBlockIn<Ctx, T>(R));
  require_one_per_column("residual", theta, AX.cols());
  require_one_per_column("residual", norms, AX.cols());
  const Index b = AX.cols();
  Parts<Ctx> parts(context, 4 * b);
  const auto twice = parts.take(2 * b, 1);
  const auto norms_of_parts = parts.take(2 * b, 1);
  detail::write_twice(context, theta, twice);
  residual<RealOf<T>>(context, real_view(AX), real_view(BX), twice, real_view(R), norms_of_parts);
  detail::fold_norms(context, norms_of_parts, norms);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                \
  template void set_zero<T>(Ctx&, BlockIn<Ctx, T>);                                               \
  template void copy<T>(Ctx&, ConstBlockIn<Ctx, T>, BlockIn<Ctx, T>);                             \
  template void fill_random<T>(Ctx&, std::uint64_t, std::uint64_t, BlockIn<Ctx, T>, Index);       \
  template void gram<T>(Ctx&, ConstBlockIn<Ctx, T>, ConstBlockIn<Ctx, T>, SmallIn<Ctx, Wide<T>>); \
  template void gram<T>(Ctx&, ConstBlockIn<Ctx, T>, ConstBlockIn<Ctx, T>, SmallIn<Ctx, Wide<T>>,  \
                        ConstBlockIn<Ctx, T>, SmallIn<Ctx, Wide<T>>);                             \
  template void multiply<T>(Ctx&, double, ConstBlockIn<Ctx, T>, ConstSmallIn<Ctx, Wide<T>>,       \
                            double, ConstBlockIn<Ctx, T>, BlockIn<Ctx, T>);                       \
  template void multiply<T>(Ctx&, double, ConstBlockIn<Ctx, T>, ConstSmallIn<Ctx, Wide<T>>,       \
                            double, BlockIn<Ctx, T>, SmallIn<Ctx, double>);                       \
  template void axpby<T>(Ctx&, double, ConstBlockIn<Ctx, T>, double, BlockIn<Ctx, T>);            \
  template void column_norms<T>(Ctx&, ConstBlockIn<Ctx, T>, SmallIn<Ctx, double>);                \
  template void column_dots<T>(Ctx&, ConstBlockIn<Ctx, T>, ConstBlockIn<Ctx, T>,                  \
                               SmallIn<Ctx, double>);                                             \
  template void weighted_squares<T>(Ctx&, ConstBlockIn<Ctx, T>, ConstBlockIn<Ctx, T>,             \
                                    SmallIn<Ctx, double>);                                        \
  template void scale_columns<T>(Ctx&, ConstSmallIn<Ctx, double>, BlockIn<Ctx, T>);               \
  template void residual<T>(Ctx&, ConstBlockIn<Ctx, T>, ConstBlockIn<Ctx, T>,                     \
                            ConstSmallIn<Ctx, double>, BlockIn<Ctx, T>, SmallIn<Ctx, double>);
HEDDLE_FOR_EACH_COMPLEX_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
