#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
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
    std::unique_ptr<Preconditioner<float, Ctx>> single, MakeFull make_full)
    : Preconditioner<double, Ctx>(require(single).row_range(), require(single).column_range()),
      make_full_(std::move(make_full)),
      single_(std::move(single)) {}

template <class Ctx>
void LoweredPreconditioner<Ctx>::raise(Ctx& context) {
  if (!make_full_) return;
  single_.reset();
  x_ = {};
  y_ = {};
  full(context);
}

/// The preconditioner in double precision, made at the first call.
template <class Ctx>
Preconditioner<double, Ctx>& LoweredPreconditioner<Ctx>::full(Ctx& context) {
  if (full_ == nullptr) {
    const PhaseScope phase(context, Phase::setup);
    full_ = make_full_(context);
  }
  return *full_;
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::apply_block(Ctx& context, ConstBlockView<double, Space> X,
                                             BlockView<double, Space> Y) {
  if (single_ != nullptr) {
    apply_single(context, X, Y);
  } else {
    full(context).apply(context, X, Y);
  }
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::apply_single(Ctx& context, ConstBlockView<double, Space> X,
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

template <class Ctx>
std::string refuse_single_precision(Ctx& context, CsrView<double, typename Ctx::Space> A) {
  constexpr double kSmallest = 0x1p-64;
  constexpr double kLargest = 0x1p64;
  HostContext beside(1);
  const Buffer<double, HostSpace> diagonal = fetch(context, beside, extract_diagonal(context, A));
  const auto fits = [](double entry) {
    const double size = std::abs(entry);
    return size == 0 || !std::isfinite(size) || (size >= kSmallest && size <= kLargest);
  };
  const double* const end = diagonal.data() + diagonal.size();
  const double* const found = std::find_if_not(diagonal.data(), end, fits);
  if (found == end) return "";
  const auto row = found - diagonal.data() + 1;
  return fmt::format(
      "diagonal entry ({0}, {0}) of the matrix is {1:g}, single precision needs a "
      "size from {2:.1e} to {3:.1e}",
      row, *found, kSmallest, kLargest);
}

#define HEDDLE_INSTANTIATE(Ctx)              \
  template class LoweredPreconditioner<Ctx>; \
  template std::string refuse_single_precision(Ctx&, CsrView<double, typename Ctx::Space>);
HEDDLE_INSTANTIATE(HostContext)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext)
#endif
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
