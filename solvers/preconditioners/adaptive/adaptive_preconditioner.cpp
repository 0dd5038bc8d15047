#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/adaptive/adaptive_preconditioner.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
AdaptivePreconditioner<T, Ctx>::AdaptivePreconditioner(
    std::unique_ptr<Preconditioner<T, Ctx>> first, Make make_strong, double threshold)
    : Preconditioner<T, Ctx>(first->row_range(), first->column_range()),
      first_(std::move(first)),
      make_strong_(std::move(make_strong)),
      threshold_(threshold) {}

template <Scalar T, class Ctx>
Index AdaptivePreconditioner<T, Ctx>::strength() const noexcept {
  if (wants_strong_) return kStrong;
  const Index own = first_->strength();
  return make_strong_ ? std::min<Index>(own, 1) : own;
}

template <Scalar T, class Ctx>
void AdaptivePreconditioner<T, Ctx>::set_strength(Index strength) {
  wants_strong_ = strength >= kStrong && (strong_ != nullptr || make_strong_);
  if (strength < kStrong) first_->set_strength(strength);
}

template <Scalar T, class Ctx>
Index AdaptivePreconditioner<T, Ctx>::suitable_strength(Ctx& context, ConstBlockView<T, Space> X,
                                                        std::span<const double> energies) {
  if (wants_strong_) return kStrong;
  const Index suitable = first_->suitable_strength(context, X, energies);
  if (make_strong_ && static_cast<double>(suitable) >= threshold_) {
    if (make(context)) return kStrong;  // the solver sets it, as every other strength
  }
  if (!make_strong_) return suitable;
  constexpr double kGrowth = 1.2;
  const double least = kGrowth * static_cast<double>(first_->strength());
  return static_cast<double>(suitable) >= least ? suitable : strength();
}

/// Makes the strong preconditioner at the first call. Whether there is one.
template <Scalar T, class Ctx>
bool AdaptivePreconditioner<T, Ctx>::make(Ctx& context) {
  if (strong_ == nullptr && make_strong_) {
    const PhaseScope phase(context, Phase::setup);
    strong_ = make_strong_(context);
    if (strong_ == nullptr) make_strong_ = {};
  }
  return strong_ != nullptr;
}

/// The preconditioner in use.
template <Scalar T, class Ctx>
Preconditioner<T, Ctx>& AdaptivePreconditioner<T, Ctx>::made(Ctx& context) {
  if (wants_strong_) wants_strong_ = make(context);
  return current();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class AdaptivePreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
