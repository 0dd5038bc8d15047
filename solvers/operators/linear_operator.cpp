#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle {

template <Scalar T, class Ctx>
void LinearOperator<T, Ctx>::apply(Ctx& context, ConstBlockView<T, Space> X,
                                   BlockView<T, Space> Y) {
  require_shapes(X, Y);
  if (X.cols() == 0) return;
  apply_block(context, X, Y);
  columns_applied_ += X.cols();
}

template <Scalar T, class Ctx>
bool LinearOperator<T, Ctx>::accumulate(Ctx& context, double alpha, ConstBlockView<T, Space> B,
                                        const SpmmEpilogue<T, Space>& epilogue,
                                        BlockView<T, Space> C) {
  require_shapes(B, C);
  if (B.cols() == 0) return true;
  if (!accumulate_block(context, alpha, B, epilogue, C)) return false;
  columns_applied_ += B.cols();
  return true;
}

template <Scalar T, class Ctx>
bool LinearOperator<T, Ctx>::absolute_row_sums(Ctx& context, BlockView<T, Space> sums,
                                               Index terms) const {
  if (sums.rows() != rows() || sums.cols() != 1) {
    throw InvalidArgument(fmt::format("LinearOperator::absolute_row_sums: sums are {}x{}, not {}x1",
                                      sums.rows(), sums.cols(), rows()));
  }
  return absolute_row_sums_into(context, sums, terms);
}

template <Scalar T, class Ctx>
void LinearOperator<T, Ctx>::require_shapes(ConstBlockView<T, Space> X,
                                            ConstBlockView<T, Space> Y) const {
  if (X.rows() != cols() || Y.rows() != rows() || X.cols() != Y.cols()) {
    throw InvalidArgument(
        fmt::format("LinearOperator::apply: Y = A X with A {}x{}, X {}x{}, Y {}x{}", rows(), cols(),
                    X.rows(), X.cols(), Y.rows(), Y.cols()));
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LinearOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
