#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/place/place.hpp>
#include <heddle/drivers/plan/complex_plan.hpp>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/run_shared.hpp>
#include <heddle/drivers/solve/scaled.hpp>
#include <heddle/drivers/solve/stages.hpp>
#include <utility>

// Solves of problems with complex matrices, on the host.
namespace heddle {
namespace {

using Complex = std::complex<double>;

/// Gives an empty block the length that it would have.
void complete(ComplexBlock& block, Index length) {
  if (block.cols() > 0) return;
  block = ComplexBlock(ConstBlockView<Complex, HostSpace>(nullptr, length, 0, 0));
}

/// Carries out one stage of a plan.
Solution run_stage(Device& device, ComplexProblem problem, const detail::PlanDetails& plan,
                   const detail::StagePlan& stage, const Monitor& monitor) {
  HostContext& context = device.host();
  const detail::Place<HostContext> place{device, context};
  context.profile().reset();
  complete(problem.constraints, problem.A.rows());
  complete(problem.initial_guess, problem.A.rows());
  complete(problem.rhs, problem.A.rows());
  detail::Facts facts = plan.facts;
  Request request = stage.request;
  const detail::HeldRowsOf<Complex> held(context, problem.A, problem.rhs, facts, request);
  held.eliminate(context, problem);
  const detail::ProblemScaling scaling = detail::scaling_of(problem, request);
  detail::scale(context, problem, facts, request, scaling);
  detail::SharedProblem<Complex> all{.problem = std::move(problem), .facts = facts};
  Solution solution = detail::run_shared<Complex>(place, std::move(all), stage.preconditioner,
                                                  request, detail::unscaled(monitor, scaling));
  detail::unscale(device, solution, scaling);
  held.put_back(device.shared_host(), solution);
  detail::report_stage(device, context, plan, stage, solution);
  return solution;
}

}  // namespace

SolvePlan plan(Device& device, const ComplexProblem& problem, const Request& request,
               const Monitor&) {
  return detail::make_plan(device.host(), detail::machine_of(device), problem, request);
}

Solution run(Device& device, ComplexProblem problem, const SolvePlan& plan,
             const Monitor& monitor) {
  detail::Facts given = detail::shape_of(problem, device.processes());
  given.complex = true;
  detail::check_plan(device, given, plan);
  const detail::PlanDetails& details = *plan.details;
  return detail::run_stages<Solution>(
      details, monitor,
      [&](const detail::StagePlan& stage, const Solution* before, const Monitor& watch) {
        if (before != nullptr) {
          problem.initial_guess = detail::guess_from<Complex>(device.host(), *before);
        }
        return run_stage(device, problem, details, stage, watch);
      });
}

Solution detail::run_keeping_vectors(Device& device, ComplexProblem problem, const SolvePlan& plan,
                                     const Monitor& monitor) {
  return run(device, std::move(problem), plan, monitor);
}

Solution solve(Device& device, ComplexProblem problem, const Request& request,
               const Monitor& monitor) {
  const SolvePlan planned = plan(device, problem, request, monitor);
  return run(device, std::move(problem), planned, monitor);
}

Solution solve(const ComplexProblem& problem, const Request& request, const Monitor& monitor) {
  if (request.device == DeviceChoice::cuda || request.devices > 1) {
    throw RequestError("device", ": cuda solves problems with real matrices only");
  }
  Device host(DeviceChoice::host, request.threads);
  Solution solution = solve(host, problem, request, monitor);
  if (request.device == DeviceChoice::automatic) {
    solution.device_note = "auto: complex matrices are solved on the host";
  }
  return solution;
}

SpectralDensity spectral_density(Device& device, const ComplexMatrix& A,
                                 const SpectralDensityOptions& options) {
  detail::check_square(ProblemPart::matrix, A.rows(), A.cols(), true);
  if (A.is_stored()) detail::check_symmetric(device.host(), ProblemPart::matrix, A);
  if (!device.is_host() || device.processes() > 1) {
    throw RequestError("device", ": densities of complex matrices need one process on the host");
  }
  const detail::PlacedMatrix<Complex, HostContext> placed =
      detail::place_matrix(device.host(), A, {});
  return spectral_density(device.host(), *placed.product, options);
}

}  // namespace heddle
