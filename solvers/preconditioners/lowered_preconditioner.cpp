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

/// Makes `block` n×b unless it has b columns. The memory of a narrower one is released first.
template <class Ctx>
void reserve_columns(Ctx& context, Index n, Index b,
                     MultiVector<float, typename Ctx::Space>& block) {
  if (block.cols() >= b) return;
  block = {};
  block = MultiVector<float, typename Ctx::Space>(context, n, b);
}

}  // namespace

template <class Ctx>
LoweredPreconditioner<Ctx>::LoweredPreconditioner(
    std::unique_ptr<Preconditioner<float, Ctx>> lowered, MakeFull make_full, MakeSingle make_single)
    : Preconditioner<double, Ctx>(require(lowered).row_range(), require(lowered).column_range()),
      make_full_(std::move(make_full)),
      make_single_(std::move(make_single)) {
  take(std::move(lowered));
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::take(std::unique_ptr<Preconditioner<float, Ctx>> lowered) {
  single_ = std::move(lowered);
  between_ = dynamic_cast<BetweenPrecisions<float, Ctx>*>(single_.get());
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::raise(Ctx& context) {
  if (!is_lowered() || !make_full_) return;
  if (outgrown_) replace(context);
  replace(context);
}

/// Replaces M by that of the next higher precision.
template <class Ctx>
void LoweredPreconditioner<Ctx>::replace(Ctx& context) {
  outgrown_ = false;
  take(nullptr);
  ++raised_;
  if (make_single_) {
    const PhaseScope phase(context, Phase::setup);
    take(std::exchange(make_single_, {})(context));
    single_->set_strength(strength_);
    return;
  }
  x_ = {};
  y_ = {};
  energies_.clear();
  full(context);
}

/// The preconditioner in double precision, made at the first call.
template <class Ctx>
Preconditioner<double, Ctx>& LoweredPreconditioner<Ctx>::full(Ctx& context) {
  if (full_ == nullptr) {
    const PhaseScope phase(context, Phase::setup);
    full_ = make_full_(context);
    full_->set_strength(strength_);
  }
  return *full_;
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::apply_block(Ctx& context, ConstBlockView<double, Space> X,
                                             BlockView<double, Space> Y) {
  if (outgrown_) replace(context);
  if (single_ == nullptr) return full(context).apply(context, X, Y);
  const PhaseScope phase(context, Phase::preconditioner);
  norm_scales<double>(context, X, scales(context, X.cols()));
  copy(context, product(context, X), Y);
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::apply_measured_block(Ctx& context, ConstBlockView<double, Space> X,
                                                      ConstSmallView<double, Space> norms,
                                                      BlockView<double, Space> Y) {
  if (const auto kept = apply_and_keep(context, X, norms)) {
    const PhaseScope phase(context, Phase::preconditioner);
    return copy(context, *kept, Y);
  }
  full(context).apply(context, X, norms, Y);
}

template <class Ctx>
auto LoweredPreconditioner<Ctx>::apply_and_keep(Ctx& context, ConstBlockView<double, Space> X,
                                                ConstSmallView<double, Space> norms)
    -> std::optional<ScaledView<float, Space>> {
  if (outgrown_) replace(context);
  if (single_ == nullptr) return std::nullopt;
  const PhaseScope phase(context, Phase::preconditioner);
  norm_scales(context, norms, scales(context, X.cols()));
  return product(context, X);
}

/// Memory for s_j and 1/s_j of b columns.
template <class Ctx>
SmallView<double, typename Ctx::Space> LoweredPreconditioner<Ctx>::scales(Ctx& context, Index b) {
  if (std::ssize(energies_) < b) {
    scales_ = SmallMatrix<double, Space>(context, b, 2);
    energies_.resize(static_cast<std::size_t>(b));
  }
  return scales_.view(b, 2);
}

/// s_j x_j in single precision, in `x_`. `scales_` holds s_j.
template <class Ctx>
BlockView<float, typename Ctx::Space> LoweredPreconditioner<Ctx>::rounded(
    Ctx& context, ConstBlockView<double, Space> X) {
  const Index b = X.cols();
  reserve_columns(context, this->rows(), b, x_);
  const BlockView<float, Space> x = x_.columns(0, b);
  convert<float, double>(context, X, scales_.view(b, 2).block(0, 0, b, 1), x);
  return x;
}

/// M X by the scales in `scales_`.
template <class Ctx>
auto LoweredPreconditioner<Ctx>::product(Ctx& context, ConstBlockView<double, Space> X)
    -> ScaledView<float, Space> {
  const Index b = X.cols();
  if (between_ != nullptr) return between_->product(context, X, scales_.view(b, 2));
  const BlockView<float, Space> x = rounded(context, X);
  reserve_columns(context, this->rows(), b, y_);
  const BlockView<float, Space> y = y_.columns(0, b);
  single_->apply(context, x, y);
  return {y, {}, scales_.view(b, 2).block(0, 1, b, 1)};
}

template <class Ctx>
std::vector<OperatorLevel> LoweredPreconditioner<Ctx>::hierarchy() const {
  if (single_ != nullptr) return single_->hierarchy();
  return full_ != nullptr ? full_->hierarchy() : std::vector<OperatorLevel>();
}

template <class Ctx>
Index LoweredPreconditioner<Ctx>::strength() const noexcept {
  if (single_ != nullptr) return single_->strength();
  return full_ != nullptr ? full_->strength() : strength_;
}

template <class Ctx>
void LoweredPreconditioner<Ctx>::set_strength(Index strength) {
  strength_ = strength;
  if (single_ != nullptr) single_->set_strength(strength);
  outgrown_ = make_single_ && single_->strength() > 0 && single_->strength() < strength;
  if (full_ != nullptr) full_->set_strength(strength);
}

template <class Ctx>
Index LoweredPreconditioner<Ctx>::suitable_strength(Ctx& context, ConstBlockView<double, Space> X,
                                                    std::span<const double> energies) {
  if (single_ == nullptr) return full(context).suitable_strength(context, X, energies);
  const Index b = X.cols();
  norm_scales<double>(context, X, scales(context, b));
  const BlockView<float, Space> x = rounded(context, X);
  const SmallView<double, HostSpace> s{energies_.data(), b, 1, b};
  fetch(context, scales_.view(b, 2).block(0, 0, b, 1), s);
  for (Index j = 0; j < b; ++j) s(j, 0) *= s(j, 0) * energies[static_cast<std::size_t>(j)];
  return single_->suitable_strength(context, x, {energies_.data(), static_cast<std::size_t>(b)});
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
  if (!context.agree(found != end)) return "";
  if (found == end) return "a diagonal entry in the rows of another process has no such size";
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
