#include <fmt/format.h>

#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/request_rules.hpp>
#include <heddle/solvers/operators/factor_estimate.hpp>
#include <heddle/solvers/problem/options.hpp>

namespace heddle::detail {
namespace {

/// Up to this estimated number of operations, some seconds, a factorisation is taken at once.
constexpr double kModerateOperations = 8e9;

/// Up to this number of pairs of the largest end, narrow blocks are faster on a host.
constexpr Index kFewPairs = 8;
constexpr Index kNarrowBlock = 4;

/// Whether A − σB of the problem can be factored at all.
bool has_inverse(const Request& request, const Problem& problem) {
  return request.which == Which::smallest && !request.interval && !problem.normal_equations &&
         problem.A.is_stored() && (!problem.B || problem.B->is_stored()) &&
         problem.A.rows() == problem.A.cols();
}

MethodChoice choose_at_smallest_end(const Request& request, const Problem& problem) {
  const auto choice = [&](Method method, std::string reason, bool may_continue = false) {
    MethodChoice chosen{request, std::move(reason), may_continue};
    chosen.request.method = method;
    return chosen;
  };
  if (request.filter || request.max_basis > 0) {
    return choice(Method::block_lanczos, "the request has options of block Lanczos");
  }
  if (problem.preconditioner || request.preconditioner.type != "auto") {
    return choice(Method::lobpcg, "a preconditioner is given");
  }
  if (problem.infinite_eigenvalues.value_or(0) > 0) {
    return choice(Method::block_lanczos, "the mass matrix is singular");
  }
  if (problem.sizes().null_vectors >= request.nev) {
    return choice(Method::lobpcg, "all wanted pairs are null vectors that the graph of A shows");
  }
  if (!has_inverse(request, problem)) {
    return choice(Method::lobpcg, "the matrices are not stored, so that none can be factored");
  }
  if (problem.processes > 1) {
    return choice(Method::lobpcg,
                  "several processes or GPUs hold the matrices, so that none is factored");
  }
  // The first stage of mixed precision iterates in single, which spoils inverses of stiff matrices.
  if (request.precision != Precision::full) {
    return choice(Method::lobpcg, "the precision is not double");
  }
  const CsrView<double, HostSpace> B = problem.B ? problem.B->view() : CsrView<double, HostSpace>{};
  const double operations = estimate_factor_cost(problem.A.view(), B).operations;
  if (operations <= kModerateOperations) {
    return choice(
        Method::block_lanczos,
        fmt::format("factoring A - sigma B is cheap, about {:.0e} operations", operations));
  }
  return choice(
      Method::lobpcg,
      fmt::format("factoring A - sigma B is expensive, about {:.0e} operations", operations), true);
}

}  // namespace

MethodChoice choose_method(const Request& request, const Problem& problem) {
  MethodChoice choice{request, "", false};
  if (request.method == Method::automatic) {
    if (problem.rhs.cols() > 0) {
      choice.request.method = Method::block_cg;
      choice.reason = "there are right-hand sides";
    } else if (request.interval) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "an interval is given";
    } else if (problem.constraints.cols() > 0) {
      choice.request.method = Method::lobpcg;
      choice.reason = "constraints are given";
    } else if (request.which == Which::largest) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "the largest end needs no preconditioner";
    } else if (problem.normal_equations) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "polynomial filters reach small singular values";
    } else {
      choice = choose_at_smallest_end(request, problem);
    }
  }
  if (choice.request.max_iterations == 0) {
    choice.request.max_iterations = is_eigensolver(choice.request.method)
                                        ? EigenOptions{}.max_iterations
                                        : LinearOptions{}.max_iterations;
  }
  check_request(choice.request, asked_problem(choice.request, problem),
                request.method == Method::automatic);
  return choice;
}

Request with_block_size(const Request& request, const ProblemSizes& sizes, bool on_host) {
  Request sized = request;
  const bool narrow = on_host && request.method == Method::block_lanczos &&
                      request.which == Which::largest && !request.interval && !sizes.pencil &&
                      request.nev <= kFewPairs;
  if (narrow && request.block_size == 0) sized.block_size = kNarrowBlock;
  return sized;
}

}  // namespace heddle::detail
