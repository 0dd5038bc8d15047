#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/lobpcg/scaled_constraints.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
ScaledConstraints<T, Ctx>::ScaledConstraints(Ctx& context, Index constraints, Index width)
    : gram_(context, constraints, constraints),
      factor_(context, constraints, constraints),
      status_(context, CholeskyQrStatus::rows, 1),
      products_(context, constraints, width),
      coefficients_(context, constraints, width) {}

template <Scalar T, class Ctx>
void ScaledConstraints<T, Ctx>::prepare(Ctx& context, const Basis<T, Space>& Y,
                                        ConstBlockView<T, Space> inverse_D,
                                        BlockView<T, Space> scratch) {
  Y_ = Y;
  inverse_D_ = inverse_D;
  const Index c = Y.Q.cols();
  if (c == 0) return;
  const SmallView<Wide<T>, Space> G = gram_.view(c, c);
  for (Index first = 0; first < c; first += scratch.cols()) {
    const Index count = std::min(scratch.cols(), c - first);
    const BlockView<T, Space> scaled = scratch.columns(0, count);
    scale_rows<T>(context, inverse_D, Y.BQ.columns(first, count), scaled);
    gram<T>(context, Y.BQ, scaled, G.block(0, first, c, count));
  }
  const SmallView<Wide<T>, Space> N = factor_.view(c, c);
  cholesky_qr_coefficients(context, G, N, status_.view(CholeskyQrStatus::rows, 1));
  small_multiply(context, 1, N, false, N, true, 0, G);
}

template <Scalar T, class Ctx>
void ScaledConstraints<T, Ctx>::project(Ctx& context, BlockView<T, Space> X,
                                        BlockView<T, Space> scratch) {
  const Index c = Y_.Q.cols();
  if (c == 0) return;
  const SmallView<Wide<T>, Space> products = products_.view(c, X.cols());
  const SmallView<Wide<T>, Space> coefficients = coefficients_.view(c, X.cols());
  gram<T>(context, Y_.BQ, X, products);
  small_multiply(context, -1, gram_.view(c, c), false, products, false, 0, coefficients);
  multiply<T>(context, 1, Y_.BQ, coefficients, 0, scratch);
  scale_rows<T>(context, inverse_D_, scratch, scratch);
  axpby<T>(context, 1, scratch, 1, X);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ScaledConstraints<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
