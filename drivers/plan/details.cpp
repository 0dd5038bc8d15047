#include <fmt/format.h>

#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/details.hpp>
#include <utility>

namespace heddle::detail {
namespace {

StagePlan stage_of(const Request& request, const Facts& facts, bool on_gpu) {
  StagePlan stage{.request = request,
                  .method = &method_of(request, facts.sizes()),
                  .preconditioner = plan_preconditioner(request, facts)};
  stage.preconditioner_name = describe_preconditioner(request, facts, stage.preconditioner, on_gpu);
  return stage;
}

/// The request for block Lanczos where LOBPCG does not reach the digits.
Request by_inverse(Request request) {
  request.method = Method::block_lanczos;
  request.filter = LanczosFilter::inverse;
  return request;
}

std::string describe_shape(const MatrixShape& A) {
  return A.stored ? fmt::format("{} x {}, {} entries", A.rows, A.cols, A.nnz)
                  : fmt::format("{} x {}, a callable", A.rows, A.cols);
}

std::string describe_mass(const Facts& facts) {
  std::string text = describe_shape(facts.B);
  if (facts.diagonal_mass) text += ", diagonal";
  const Index infinite = facts.infinite_eigenvalues.value_or(0);
  if (infinite > 0) text += fmt::format(", singular: {} infinite eigenvalues", infinite);
  return text;
}

std::string describe_load_factors(const Request& request) {
  const Side side = request.side.value_or(Side::both);
  const std::string_view which = side == Side::both    ? "of both signs"
                                 : side == Side::above ? "above it"
                                                       : "below it";
  if (*request.sigma != 0) {
    return fmt::format("nearest to {}{}", *request.sigma,
                       side == Side::both ? "" : fmt::format(", {}", which));
  }
  return fmt::format("nearest to zero, {}", side == Side::above   ? "positive"
                                            : side == Side::below ? "negative"
                                                                  : which);
}

std::string describe_scaling(const ProblemScaling& scaling) {
  if (scaling.changes_nothing()) return "none";
  if (!scaling.graded()) return fmt::format("A by 2^{}, B by 2^{}", scaling.A, scaling.B);
  return fmt::format("by rows, whose sizes span a factor of {:.0e}", scaling.span);
}

std::string describe_bytes(double bytes) {
  return fmt::format("{:.1f} MiB", bytes / (1024.0 * 1024.0));
}

/// Collects the findings and choices of a plan.
class Choices {
 public:
  explicit Choices(const PlanDetails& plan) : plan_(plan) {}

  std::vector<PlannedChoice> take() {
    findings();
    for (const StagePlan& stage : plan_.stages) choices(stage);
    if (!plan_.held.empty()) {
      add("held rows", fmt::format("{} are eliminated", plan_.held.count()),
          "large diagonal entries hold them, and they dominate the right-hand sides");
    }
    const StagePlan& first = plan_.stages.front();
    bool factors = counts_by_factors(first.request);
    if (is_counted_after(first)) {
      choices_.push_back(planned_count(first.request, plan_.facts, plan_.factor));
      factors = choices_.back().value != "none";
    }
    if (factors) {
      choices_.push_back(
          planned_library(first.request, plan_.on_gpu, plan_.facts.order(), plan_.factor));
    }
    const OrderChoice& order = plan_.row_order;
    add("row order", std::string(row_order_name(order.order)), order.reason);
    add("memory", describe_bytes(plan_.memory.device), "estimated peak");
    if (plan_.memory.host != plan_.memory.device) {
      add("host memory", describe_bytes(plan_.memory.host), "estimated peak");
    }
    return std::move(choices_);
  }

 private:
  void add(std::string name, std::string value, std::string reason = "") {
    choices_.push_back({std::move(name), std::move(value), std::move(reason)});
  }

  void findings() {
    const Facts& facts = plan_.facts;
    add("matrix", describe_shape(facts.A));
    if (facts.buckling) {
      add("geometric stiffness", describe_shape(facts.B));
      add("load factors", describe_load_factors(plan_.stages.front().request));
    } else if (facts.B.given) {
      add("mass", describe_mass(facts));
    }
    if (facts.null_space) {
      add("null vectors", std::to_string(facts.null_space->dimension),
          facts.null_space->complete ? "the graph of A shows them: they span its null space"
                                     : "the graph of A shows them, or it maps ones to zero");
    }
    if (facts.near_null.cols() > 0) {
      add("near null space", fmt::format("{} vectors", facts.near_null.cols()));
    }
    if (!plan_.copy_reason.empty()) add("copy", "in host memory", plan_.copy_reason);
  }

  void choices(const StagePlan& stage) {
    const bool second = &stage != &plan_.stages.front();
    const std::string when = second ? "if the first stage does not reach the digits" : "";
    add(second ? "second stage" : "method", std::string(stage.method->name),
        second ? when : plan_.method_reason);
    if (second) return;
    add("block size", std::to_string(stage.method->block_size(stage.request, plan_.facts.sizes())));
    const PreconditionerPlan& preconditioner = stage.preconditioner;
    add("preconditioner", stage.preconditioner_name);
    if (preconditioner.kind != nullptr) {
      add("preconditioner precision", preconditioner.lowered ? "lowered" : "that of the solve",
          preconditioner.precision_reason);
    }
    add("scaling", describe_scaling(stage.scaling));
  }

  const PlanDetails& plan_;
  std::vector<PlannedChoice> choices_;
};

}  // namespace

std::vector<StagePlan> stages_of(const MethodChoice& choice, const Facts& facts, bool on_gpu) {
  std::vector<StagePlan> stages{stage_of(choice.request, facts, on_gpu)};
  if (choice.may_continue) stages.push_back(stage_of(by_inverse(choice.request), facts, on_gpu));
  return stages;
}

SolvePlan plan_of(PlanDetails details) {
  const StagePlan& first = details.stages.front();
  SolvePlan plan{.request = first.request,
                 .method = std::string(first.method->name),
                 .method_reason = details.method_reason,
                 .block_size = first.method->block_size(first.request, details.facts.sizes()),
                 .preconditioner = first.preconditioner_name,
                 .device_bytes = details.memory.device,
                 .host_bytes = details.memory.host};
  plan.details = std::make_shared<const PlanDetails>(std::move(details));
  return plan;
}

}  // namespace heddle::detail

namespace heddle {

std::vector<PlannedChoice> SolvePlan::choices() const {
  return details ? detail::Choices(*details).take() : std::vector<PlannedChoice>();
}

}  // namespace heddle
