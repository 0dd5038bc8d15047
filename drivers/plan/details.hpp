#pragma once

#include <heddle/drivers/plan/choice.hpp>
#include <heddle/drivers/plan/consistent_rhs.hpp>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <variant>
#include <vector>

/// The decisions of a plan as `run` needs them.
namespace heddle::detail {

/// One stage of a solve. Its method has been chosen.
struct StagePlan {
  Request request;
  const MethodKind* method = nullptr;
  PreconditionerPlan preconditioner{};
  std::string preconditioner_name{};  ///< before the solve, see `describe_preconditioner`
  ProblemScaling scaling{};
};

/// The facts about a problem and the decisions for it.
struct PlanDetails {
  Facts facts{};
  bool on_gpu = false;  ///< whether it was made for a GPU
  /// A second stage begins where the first one does not reach the digits, from its vectors.
  std::vector<StagePlan> stages{};
  std::string method_reason{};
  OrderChoice row_order{};
  MemoryEstimate memory{};  ///< of the first stage
  FactorCost factor{};      ///< of A − σB, estimated where the request asks for a count
  /// Of a linear system: its right-hand sides without parts along null vectors, and the rows that
  /// are eliminated.
  ConsistentRhs consistent{};
  HeldRows held{};
  /// A copy in host memory of a problem on a device whose entries need it. Null: there is none.
  std::shared_ptr<const std::variant<Problem, ComplexProblem>> host_copy{};
  std::string copy_reason{};
};

/// The stages for `choice` of a problem with these facts, without scaling.
std::vector<StagePlan> stages_of(const MethodChoice& choice, const Facts& facts, bool on_gpu);

/// The plan with these details, whose stages and memory are set.
SolvePlan plan_of(PlanDetails details);

}  // namespace heddle::detail
