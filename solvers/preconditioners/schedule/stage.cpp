#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/schedule/stage.hpp>

namespace heddle {
namespace {

template <class Pointer>
auto& require(const Pointer& M) {
  if (M == nullptr) throw InvalidArgument("PreconditionerStage: there is no preconditioner");
  return *M;
}

/// Whether a stage for blocks of T may begin in lower precision.
template <Scalar T>
constexpr bool kMayBeLowered = std::same_as<T, double>;

}  // namespace

template <Scalar T, class Ctx>
PreconditionerStage<T, Ctx>::PreconditionerStage(std::shared_ptr<Full> full)
    : LinearOperator<T, Ctx>(require(full).row_range(), require(full).column_range()),
      name_(full->name()),
      full_(std::move(full)) {}

template <Scalar T, class Ctx>
PreconditionerStage<T, Ctx>::PreconditionerStage(
    std::unique_ptr<Single> lowered, ProductPrecision products, MakeFull make_full,
    MakeSingle make_single) requires std::same_as<T, double>
    : LinearOperator<T, Ctx>(require(lowered).row_range(), require(lowered).column_range()),
      name_(lowered->name()),
      products_(products),
      began_lowered_(true),
      make_full_(std::move(make_full)),
      make_single_(std::move(make_single)),
      lowered_(std::move(lowered)) {}

template <Scalar T, class Ctx>
bool PreconditionerStage<T, Ctx>::raise(Ctx& context) {
  if (!is_lowered()) return false;
  if (outgrown_) replace(context);
  replace(context);
  return true;
}

template <Scalar T, class Ctx>
void PreconditionerStage<T, Ctx>::raise_to(Ctx& context, Index times) {
  while (raised_ < times && is_lowered()) replace(context);
}

/// Replaces M by that of the next higher precision.
template <Scalar T, class Ctx>
void PreconditionerStage<T, Ctx>::replace(Ctx& context) {
  outgrown_ = false;
  ++raised_;
  if (make_single_) {
    const PhaseScope phase(context, Phase::setup);
    RoundedProducts<Ctx> products = *std::move(lowered_);
    lowered_.reset();  // so that a call after `OutOfMemory` goes on in full precision
    products.replace([&] { return std::exchange(make_single_, {})(context); });
    lowered_ = std::move(products);
    if (auto* const variable = lowered_degree()) variable->set_degree(degree_);
    return;
  }
  lowered_.reset();
  full(context);
}

/// The preconditioner in full precision, made at the first call.
template <Scalar T, class Ctx>
auto PreconditionerStage<T, Ctx>::full(Ctx& context) -> Full& {
  if (full_ == nullptr) {
    const PhaseScope phase(context, Phase::setup);
    full_ = make_full_(context);
    if (auto* const variable = full_degree()) variable->set_degree(degree_);
  }
  return *full_;
}

template <Scalar T, class Ctx>
void PreconditionerStage<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                              BlockView<T, Space> Y) {
  if (outgrown_) replace(context);
  if constexpr (kMayBeLowered<T>) {
    if (is_lowered()) {
      const PhaseScope phase(context, Phase::preconditioner);
      return copy(context, lowered_->product(context, X), Y);
    }
  }
  full(context).apply(context, X, Y);
}

template <Scalar T, class Ctx>
auto PreconditionerStage<T, Ctx>::apply_and_keep(Ctx& context, ConstBlockView<T, Space> X,
                                                 ConstSmallView<double, Space> norms)
    -> std::optional<ScaledView<float, Space>> {
  if (outgrown_) replace(context);
  if constexpr (kMayBeLowered<T>) {
    if (is_lowered()) {
      const PhaseScope phase(context, Phase::preconditioner);
      return lowered_->product(context, X, norms);
    }
  }
  return std::nullopt;
}

template <Scalar T, class Ctx>
VariableDegree<T, Ctx>* PreconditionerStage<T, Ctx>::full_degree() const noexcept {
  return full_ != nullptr ? full_->variable_degree() : nullptr;
}

template <Scalar T, class Ctx>
VariableDegree<float, Ctx>* PreconditionerStage<T, Ctx>::lowered_degree() const noexcept {
  return is_lowered() ? lowered_->M().variable_degree() : nullptr;
}

template <Scalar T, class Ctx>
Index PreconditionerStage<T, Ctx>::degree() const noexcept {
  if (const auto* const variable = lowered_degree()) return variable->degree();
  const auto* const variable = full_degree();
  return variable != nullptr ? variable->degree() : 0;
}

template <Scalar T, class Ctx>
void PreconditionerStage<T, Ctx>::set_degree(Index degree) {
  degree_ = degree;
  outgrown_ = false;
  if (auto* const variable = lowered_degree()) {
    variable->set_degree(degree);
    outgrown_ = make_single_ && variable->degree() < degree;
  } else if (auto* const of_full = full_degree()) {
    of_full->set_degree(degree);
  }
}

template <Scalar T, class Ctx>
Index PreconditionerStage<T, Ctx>::suitable_degree(Ctx& context, ConstBlockView<T, Space> X,
                                                   std::span<const double> energies) {
  if constexpr (kMayBeLowered<T>) {
    if (lowered_degree() != nullptr) return lowered_->suitable_degree(context, X, energies);
  }
  auto* const variable = full_degree();
  return variable != nullptr ? variable->suitable_degree(context, X, energies) : 0;
}

template <Scalar T, class Ctx>
std::span<const OperatorLevel> PreconditionerStage<T, Ctx>::levels() const noexcept {
  if (is_lowered()) return lowered_->M().levels();
  return full_ != nullptr ? full_->levels() : std::span<const OperatorLevel>();
}

template <Scalar T, class Ctx>
std::string PreconditionerStage<T, Ctx>::precision() const {
  if (!began_lowered_) return std::same_as<RealOf<T>, double> ? "double" : "single";
  const bool narrow = products_ != ProductPrecision::single_precision;
  std::string precisions(limits_of(products_).name);
  if (narrow && raised_ > 0) precisions += ", then single";
  if (raised_ > (narrow ? 1 : 0)) precisions += ", then double";
  return precisions;
}

template <Scalar T, class Ctx>
std::string PreconditionerStage<T, Ctx>::precision_reason() const {
  return raised_ > 0 ? "raised where lower precision prevented progress" : precision_reason_;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class PreconditionerStage<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
