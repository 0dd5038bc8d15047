#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/lowered_preconditioner.hpp>
#include <utility>

namespace heddle {
namespace {

template <class Ctx>
const Preconditioner<float, Ctx>& require(const std::unique_ptr<Preconditioner<float, Ctx>>& M) {
  if (M == nullptr) throw InvalidArgument("LoweredPreconditioner: there is no preconditioner");
  return *M;
}

}  // namespace

template <class Ctx>
LoweredPreconditioner<Ctx>::LoweredPreconditioner(
    std::unique_ptr<Preconditioner<float, Ctx>> single)
    : Preconditioner<double, Ctx>(require(single).row_range(), single->column_range()),
      single_(std::move(single)) {}

template <class Ctx>
void LoweredPreconditioner<Ctx>::apply_block(Ctx& context, ConstBlockView<double, Space> X,
                                             BlockView<double, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  if (x_.cols() < b) {
    for (MultiVector<float, Space>* block : {&x_, &y_}) {
      *block = MultiVector<float, Space>();
      *block = MultiVector<float, Space>(context, X.rows(), b);
    }
    scales_ = SmallMatrix<double, Space>(context, b, 2);
  }
  const BlockView<float, Space> x = x_.columns(0, b);
  const BlockView<float, Space> y = y_.columns(0, b);
  const SmallView<double, Space> scales = scales_.view(b, 2);
  norm_scales<double>(context, X, scales);
  convert<float, double>(context, X, scales.block(0, 0, b, 1), x);
  single_->apply(context, x, y);
  convert<double, float>(context, y, scales.block(0, 1, b, 1), Y);
}

template class LoweredPreconditioner<HostContext>;
#ifdef HEDDLE_HAS_CUDA
template class LoweredPreconditioner<CudaContext>;
#endif

}  // namespace heddle
