#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/nearest/pencil_inverse.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
PencilInverse<T, Ctx>::PencilInverse(Ctx& context, IndefiniteInverse<T, Ctx>& inverse,
                                     LinearOperator<T, Ctx>* B, Index block)
    : LinearOperator<T, Ctx>(inverse.rows(), inverse.cols()),
      inverse_(&inverse),
      B_(B),
      work_(context, inverse.rows(), block) {}

template <Scalar T, class Ctx>
void PencilInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                        BlockView<T, Space> Y) {
  if (B_ == nullptr) return inverse_->apply(context, X, Y);
  const BlockView<T, Space> BX = work_.columns(0, X.cols());
  B_->apply(context, X, BX);
  inverse_->apply(context, BX, Y);
}

template <Scalar T, class Ctx>
std::vector<double> residuals_of_inverse(Ctx& context, PencilInverse<T, Ctx>& F,
                                         LinearOperator<T, Ctx>* B,
                                         ConstBlockView<T, typename Ctx::Space> X,
                                         std::vector<double> theta,
                                         BlockView<T, typename Ctx::Space> R,
                                         BlockView<T, typename Ctx::Space> BR) {
  const Index k = X.cols();
  SmallMatrix<double, typename Ctx::Space> there(context, k, 2);
  const auto numbers = there.view(k, 2);
  send(context, SmallView<double, HostSpace>{theta.data(), k, 1, k}, numbers.block(0, 0, k, 1));
  for (Index first = 0; first < k; first += R.cols()) {
    const Index width = std::min(R.cols(), k - first);
    const auto x = X.columns(first, width);
    const auto r = R.columns(0, width);
    const auto squares = numbers.block(first, 1, width, 1);
    F.apply(context, x, r);
    residual<T>(context, r, x, numbers.block(first, 0, width, 1), r, squares);
    if (B != nullptr) B->apply(context, r, BR.columns(0, width));
    column_dots<T>(context, r, B == nullptr ? r : BR.columns(0, width), squares);
  }
  fetch(context, numbers.block(0, 1, k, 1), SmallView<double, HostSpace>{theta.data(), k, 1, k});
  for (double& each : theta) each = std::sqrt(std::max(each, 0.0));
  return theta;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                 \
  template class PencilInverse<T, Ctx>;                            \
  template std::vector<double> residuals_of_inverse(               \
      Ctx&, PencilInverse<T, Ctx>&, LinearOperator<T, Ctx>*,       \
      ConstBlockView<T, typename Ctx::Space>, std::vector<double>, \
      BlockView<T, typename Ctx::Space>, BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
