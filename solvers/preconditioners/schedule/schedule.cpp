#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>

namespace heddle {

template <Scalar T, class Ctx>
PreconditionerSchedule<T, Ctx>::PreconditionerSchedule(Stage first, std::string reason,
                                                       const SetupCost& cost)
    : Preconditioner<T, Ctx>(first.row_range(), first.column_range()),
      first_(std::move(first)),
      reason_(std::move(reason)) {
  this->note_making(first_.name(), cost);
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::begin() {
  strong_in_use_ = false;
  next_theta_ = kInfinity;
  set_degree(0);
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::apply(Ctx& context, ConstBlockView<T, Space> X,
                                           ConstSmallView<double, Space> norms,
                                           BlockView<T, Space> Y) {
  if constexpr (std::same_as<T, double>) {
    if (const auto kept = apply_and_keep(context, X, norms)) {
      const PhaseScope phase(context, Phase::preconditioner);
      return copy(context, *kept, Y);
    }
  }
  apply(context, X, Y);
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::set_degree(Index degree) {
  degree_ = degree;
  stage().set_degree(degree);
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::note(Choice& choice) {
  if (!choice.reason.empty()) reason_ = std::move(choice.reason);
  choice_seconds_ += choice.cost.seconds();
  choice_bytes_ = choice.cost.bytes();
}

/// Lets the strong stage take over, which is made at the first call. Whether there is one.
template <Scalar T, class Ctx>
bool PreconditionerSchedule<T, Ctx>::use_strong(Ctx& context) {
  if (!strong_ && make_strong_) {
    const PhaseScope phase(context, Phase::setup);
    Choice made = make_strong_(context);
    note(made);
    strong_ = std::move(made.stage);
    if (!strong_) make_strong_ = {};
  }
  strong_in_use_ = strong_.has_value();
  return strong_in_use_;
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::suit(Ctx& context, ConstBlockView<T, Space> X,
                                          std::span<const double> theta) {
  if (strong_in_use_ || theta.empty() || current().degree() == 0) return;
  const double last = theta.back();
  if (!(last < next_theta_)) return;
  const Index suitable = stage().suitable_degree(context, X, theta);
  const bool enough = static_cast<double>(suitable) >= strong_degree_;
  if (make_strong_ && enough && use_strong(context)) return;
  // With a strong stage ahead, the degree is asked for often, because it decides about that stage.
  double reached = 1;
  double asked = 1;
  const auto degree = static_cast<double>(current().degree());
  if (!make_strong_) {
    if (suitable > current().degree()) set_degree(suitable);
    reached = static_cast<double>(current().degree());
    asked = static_cast<double>(suitable);
  } else if (static_cast<double>(suitable) >= kGrowth * degree) {
    set_degree(suitable);
    asked = static_cast<double>(suitable);
  }
  const double missing = asked / (kGrowth * reached);
  next_theta_ = last > 0 ? last * missing * missing : -kInfinity;
}

template <Scalar T, class Ctx>
bool PreconditionerSchedule<T, Ctx>::choose(Ctx& context, double steps) {
  told_steps_.push_back(steps);
  return choose_now(context, steps);
}

template <Scalar T, class Ctx>
bool PreconditionerSchedule<T, Ctx>::choose_now(Ctx& context, double steps) {
  if (next_choice_ == 0) return false;
  const PhaseScope phase(context, Phase::setup);
  next_choice_ = next_choice_ < kLastChoice ? 2 * next_choice_ : 0;
  Choice chosen = choose_(context, steps);
  note(chosen);
  if (!chosen.stage) return false;
  first_ = *std::move(chosen.stage);
  next_choice_ = 0;
  return true;
}

template <Scalar T, class Ctx>
void PreconditionerSchedule<T, Ctx>::archive(Ctx& context, detail::Archive& archive) {
  bool strong = strong_in_use_;
  bool lowered = is_lowered();
  Index raised = current().raised();
  archive.values(strong, degree_, next_theta_, lowered, raised);
  archive.list(told_steps_);
  if (!archive.loading()) return;
  if (strong) use_strong(context);
  for (const double steps : told_steps_) choose_now(context, steps);
  if (degree_ > 0) set_degree(degree_);
  stage().raise_to(context, raised);
  if (!lowered) {
    while (raise(context)) continue;
  } else if (!is_lowered()) {
    throw detail::ArchiveError(
        "belongs to a solve with a preconditioner in lower precision, this one is in full "
        "precision");
  }
}

template <Scalar T, class Ctx>
PreconditionerReport PreconditionerSchedule<T, Ctx>::report() const {
  const Stage& used = current();
  const SetupCost& first = this->setup_cost();
  const std::span<const OperatorLevel> of_stage = used.levels();
  return {.name = used.name(),
          .reason = reason_,
          .precision = used.precision(),
          .precision_reason = used.precision_reason(),
          .degree = used.degree(),
          .seconds = first.seconds() + choice_seconds_,
          .bytes = first.bytes() + choice_bytes_,
          .levels = {of_stage.begin(), of_stage.end()}};
}

template <Scalar T, class Ctx>
std::optional<PreconditionerReport> report_of(Preconditioner<T, Ctx>& M) {
  const PreconditionerSchedule<T, Ctx>* const schedule = M.schedule();
  if (schedule == nullptr) return std::nullopt;
  return schedule->report();
}

#define HEDDLE_INSTANTIATE(T, Ctx)               \
  template class PreconditionerSchedule<T, Ctx>; \
  template std::optional<PreconditionerReport> report_of(Preconditioner<T, Ctx>&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
