#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/buckling.hpp>
#include <heddle/drivers/plan/complex_plan.hpp>
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

Solution run(Device& device, Problem given, const SolvePlan& plan, const Monitor& monitor,
             bool keeps_vectors) {
  Problem problem = buckling_pencil(device.host(), std::move(given));
  check_plan(device, shape_of(problem, device.processes()), plan);
  const FreedMemory freed(device);
  return device.with_context([&](auto& context) {
    const bool last = plan.details->stages.size() == 1;
    const Place<std::remove_reference_t<decltype(context)>> on{device, context,
                                                               keeps_vectors && last};
    return run_stages<Solution>(
        *plan.details, monitor,
        [&](const StagePlan& stage, const Solution* before, const Monitor& watch) {
          if (before != nullptr) problem.initial_guess = guess_from(device.host(), *before);
          const bool moves = last || before != nullptr;
          return run_stage(on, moves ? std::move(problem) : problem, *plan.details, stage, watch);
        });
  });
}

}  // namespace

Solution run_keeping_vectors(Device& device, Problem problem, const SolvePlan& plan,
                             const Monitor& monitor) {
  return run(device, std::move(problem), plan, monitor, true);
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

/// Why a problem of this shape must be solved on the host. Empty if it can be moved to a GPU.
std::string host_reason(const detail::Facts& shape) {
  const std::string_view part = detail::callable_part(shape);
  return part.empty() ? "" : std::string(part) + " is a callable on host blocks";
}

[[noreturn]] void refuse_gpu(const std::string& reason) {
  throw RequestError("device", ": cuda cannot be used: " + reason);
}

void check_products(const Device& device, const detail::Facts& shape) {
  const std::string reason = host_reason(shape);
  if (!reason.empty() && !device.is_host()) refuse_gpu(reason);
}

/// On the device that the request asks for, by default a GPU if there is one.
template <Scalar T>
Solution solve_anywhere(const HostProblem<T>& problem, const Request& request,
                        const Monitor& monitor) {
  const std::string reason = host_reason(detail::shape_of(problem, 1));
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

}  // namespace

SolvePlan plan(Device& device, const Problem& problem, const Request& request,
               const Monitor& monitor) {
  check_products(device, detail::shape_of(problem, device.processes()));
  return detail::make_plan(device.host(), detail::machine_of(device),
                           detail::buckling_pencil(device.host(), problem), request, monitor);
}

SolvePlan plan(Device& device, const ComplexProblem& problem, const Request& request,
               const Monitor&) {
  check_products(device, detail::shape_of(problem, device.processes()));
  return detail::make_plan(device.host(), detail::machine_of(device), problem, request);
}

Solution run(Device& device, Problem problem, const SolvePlan& plan, const Monitor& monitor) {
  return detail::run(device, std::move(problem), plan, monitor, false);
}

Solution solve(Device& device, Problem problem, const Request& request, const Monitor& monitor) {
  const SolvePlan planned = plan(device, problem, request, monitor);
  return run(device, std::move(problem), planned, monitor);
}

Solution solve(Device& device, ComplexProblem problem, const Request& request,
               const Monitor& monitor) {
  const SolvePlan planned = plan(device, problem, request, monitor);
  return run(device, std::move(problem), planned, monitor);
}

Solution solve(const Problem& problem, const Request& request, const Monitor& monitor) {
  return solve_anywhere(problem, request, monitor);
}

Solution solve(const ComplexProblem& problem, const Request& request, const Monitor& monitor) {
  return solve_anywhere(problem, request, monitor);
}

}  // namespace heddle
