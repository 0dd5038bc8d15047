#pragma once

#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/solve/run_shared.hpp>

namespace heddle::detail {

/// Carries out one stage of the plan for `problem`, in host memory: applies the transformations of
/// the plan, solves, and takes them back.
template <class Ctx>
Solution run_stage(const Place<Ctx>& on, Problem problem, const PlanDetails& plan,
                   const StagePlan& stage, const Monitor& monitor);

}  // namespace heddle::detail
