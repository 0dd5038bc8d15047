#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/make_plan.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/run_stage.hpp>
#include <heddle/drivers/solve/stages.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// At its end, returns what the solve freed to the system: results may keep a context for long.
class FreedMemory {
 public:
  explicit FreedMemory(Device& device) noexcept : device_(device) {}
  ~FreedMemory() {
    device_.host().release_kept_memory();
    device_.team().release_kept_memory();
  }
  FreedMemory(const FreedMemory&) = delete;
  FreedMemory& operator=(const FreedMemory&) = delete;

 private:
  Device& device_;
};

/// Throws if `plan` was made for a problem of another shape, or for another device.
void check_plan(const Device& device, const Problem& problem, const SolvePlan& plan) {
  if (!plan.details) throw InvalidArgument("run: the plan is empty: make it by plan");
  const Facts& planned = plan.details->facts;
  const Facts given = shape_of(problem, device.processes());
  const auto same = [](const auto& a, const auto& b) {
    return a.rows == b.rows && a.cols == b.cols;
  };
  const bool fits = given.processes == planned.processes && same(given.A, planned.A) &&
                    same(given.B, planned.B) && same(given.rhs, planned.rhs) &&
                    given.A.nnz == planned.A.nnz &&
                    given.normal_equations == planned.normal_equations &&
                    (plan.details->on_gpu == !device.is_host());
  if (!fits) throw InvalidArgument("run: the plan was made for another problem or device");
}

Solution run(Device& device, Problem problem, const SolvePlan& plan, const Monitor& monitor,
             bool keeps_vectors) {
  check_plan(device, problem, plan);
  const FreedMemory freed(device);
  return device.with_context([&](auto& context) {
    const Place<std::remove_reference_t<decltype(context)>> on{device, context, keeps_vectors};
    const bool last = plan.details->stages.size() == 1;
    return run_stages<Solution>(
        *plan.details, monitor,
        [&](const StagePlan& stage, const Solution* before, const Monitor& watch) {
          if (before != nullptr) problem.initial_guess = guess_from(device.host(), *before);
          const bool moves = last || before != nullptr;
          return run_stage(on, moves ? std::move(problem) : problem, *plan.details, stage, watch);
        });
  });
}

/// Why `problem` must be solved on the host. Empty if it can be moved to a GPU.
std::string host_reason(const Problem& problem) {
  const std::string_view part = callable_part(shape_of(problem, 1));
  return part.empty() ? "" : std::string(part) + " is a callable on host blocks";
}

}  // namespace

Solution run_keeping_vectors(Device& device, Problem problem, const SolvePlan& plan,
                             const Monitor& monitor) {
  return run(device, std::move(problem), plan, monitor, plan.details->stages.size() == 1);
}

SolvePlan with_checkpoint(const SolvePlan& plan, const CheckpointOptions& checkpoint) {
  PlanDetails details = *plan.details;
  for (StagePlan& stage : details.stages) stage.request.checkpoint = checkpoint;
  SolvePlan other = plan;
  other.request.checkpoint = checkpoint;
  other.details = std::make_shared<const PlanDetails>(std::move(details));
  return other;
}

}  // namespace detail

namespace {

[[noreturn]] void refuse_gpu(const std::string& reason) {
  throw RequestError("device", ": cuda cannot be used: " + reason);
}

}  // namespace

SolvePlan plan(Device& device, const Problem& problem, const Request& request,
               const Monitor& monitor) {
  const std::string reason = detail::host_reason(problem);
  if (!reason.empty() && !device.is_host()) refuse_gpu(reason);
  return detail::make_plan(device.host(), detail::machine_of(device), problem, request, monitor);
}

Solution run(Device& device, Problem problem, const SolvePlan& plan, const Monitor& monitor) {
  return detail::run(device, std::move(problem), plan, monitor, false);
}

Solution solve(Device& device, Problem problem, const Request& request, const Monitor& monitor) {
  const SolvePlan planned = plan(device, problem, request, monitor);
  return run(device, std::move(problem), planned, monitor);
}

Solution solve(const Problem& problem, const Request& request, const Monitor& monitor) {
  const std::string reason = detail::host_reason(problem);
  if (reason.empty() || request.devices > 1) {
    Device device = device_for(request);
    return solve(device, problem, request, monitor);
  }
  if (request.device == DeviceChoice::cuda) refuse_gpu(reason);
  Device host(DeviceChoice::host, request.threads);
  Solution solution = solve(host, problem, request, monitor);
  if (request.device == DeviceChoice::automatic) solution.device_note = "auto: " + reason;
  return solution;
}

}  // namespace heddle
