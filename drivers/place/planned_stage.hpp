#pragma once

#include <concepts>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/solvers/preconditioners/schedule/stage.hpp>
#include <string>

namespace heddle::detail {

/// Why a preconditioner has its precision: `refusal`, why its matrix does not allow what the plan
/// lowers, or else `reason`.
inline const std::string& reason_of_precision(bool lowered_by_plan, const std::string& reason,
                                              const std::string& refusal) {
  return lowered_by_plan && !refusal.empty() ? refusal : reason;
}

/// Makes the kind of the plan, or its strong kind, for this matrix, in the precision of the plan
/// where `refusal` is empty.
template <Scalar T, class Ctx>
PreconditionerStage<T, Ctx> planned_stage(Ctx& context, const PreconditionerPlan& plan, bool strong,
                                          DistributedCsrView<T, typename Ctx::Space> matrix,
                                          const std::string& refusal, const SpmmOptions& spmm) {
  using Stage = PreconditionerStage<T, Ctx>;
  const PreconditionerKind& kind = strong ? *plan.strong : *plan.kind;
  const PreconditionerOptions& options = strong ? plan.strong_options : plan.options;
  const bool lowered = strong ? plan.strong_lowered : plan.lowered;
  const auto make = [&] {
    if constexpr (std::same_as<T, double>) {
      if (lowered && refusal.empty()) return kind.lowered_stage(context, matrix, options, spmm);
    }
    return Stage(kind.template make<T, Ctx>(context, matrix, options, spmm));
  };
  Stage stage = make();
  stage.describe(
      plan.describe(kind, options),
      reason_of_precision(lowered, strong ? plan.strong_precision_reason : plan.precision_reason,
                          refusal));
  return stage;
}

}  // namespace heddle::detail
