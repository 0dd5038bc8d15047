#pragma once

#include <fmt/format.h>

#include <chrono>
#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/placed.hpp>
#include <string>
#include <utility>
#include <vector>

/// A solve in the memory of a context, from a problem on the host or there.
namespace heddle::detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Names the preconditioner that `plan` led to. `choice`: null if `auto` had none.
void report_choice(const PreconditionerPlan& plan, const AutomaticChoice* choice,
                   Solution& solution);

/// Adds what the sizes tell to the solution: infinite eigenvalues and null vectors.
void report_sizes(const ProblemSizes& sizes, Solution& solution);

/// √λ/2π with the sign of λ, for eigenvalues λ = ω².
std::vector<double> frequencies_of(const std::vector<double>& eigenvalues);

/// Whether block Lanczos with an inverse may reach what a solve by LOBPCG with `request` did not.
bool is_unfinished(const Request& request, const Solution& first);

/// Solves `problem`, a `HostProblem` or a `ResidentProblem`, in `context`, and reports all of it
/// but the vectors, which the result holds in the memory of the context. The method of `request`
/// has been chosen.
template <Scalar T, class Ctx, class Source>
Solved<T, typename Ctx::Space> solve_placed(Ctx& context, HostContext& host, Source problem,
                                            const PreconditionerPlan& plan, const Request& request,
                                            const Monitor& monitor) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  monitor.begin_stage("setting up");
  const ProblemSizes sizes = problem.sizes();
  const MethodKind& method = method_of(request, sizes);
  PlacedProblem<T, Ctx> placed = [&] {
    const PhaseScope phase(context, Phase::setup);
    return PlacedProblem<T, Ctx>(context, host, std::move(problem), request, plan,
                                 method.memory_bytes(request, sizes, sizeof(T)),
                                 method.block_size(request, sizes), monitor);
  }();
  context.synchronize();
  const double setup_seconds = seconds_since(start);

  monitor.begin_stage("first iteration");
  Solved<T, typename Ctx::Space> solved =
      std::get<MethodCall<T, Ctx>>(method.calls)(context, placed, request, monitor);
  context.synchronize();
  Solution& solution = solved.solution;
  solution.setup_seconds = setup_seconds;
  solution.solve_seconds = seconds_since(start) - setup_seconds;
  report_sizes(placed.sizes(), solution);
  solution.method = method.name;
  solution.block_size = method.block_size(request, placed.sizes());
  if (const SparseOperator<T, Ctx>* A = placed.stored_A()) {
    solution.spmm_kernel = A->plan().kernel(solution.block_size);
    solution.spmm_reason = A->plan().reason(solution.block_size);
  }
  solution.factor_library = placed.factor_library();
  solution.preconditioner = placed.preconditioner_cost();
  solution.preconditioner_precision = placed.preconditioner_precision(plan);
  solution.preconditioner_strength = placed.preconditioner_strength();
  report_choice(plan, placed.preconditioner_choice(), solution);
  solution.preconditioner_levels = placed.preconditioner_levels();
  return solved;
}

}  // namespace heddle::detail
