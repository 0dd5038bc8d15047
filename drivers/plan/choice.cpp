#include <fmt/format.h>

#include <heddle/drivers/plan/choice.hpp>
#include <heddle/solvers/problem/options.hpp>

namespace heddle::detail {
namespace {

/// Up to this estimated number of operations, some seconds, a factorisation is taken at once.
constexpr double kModerateOperations = 8e9;

/// Up to this number of pairs of the largest end, narrow blocks are faster on a host.
constexpr Index kFewPairs = 8;
constexpr Index kNarrowBlock = 4;

/// Whether A − σB of the problem can be factored at all.
bool has_inverse(const Request& request, const Facts& facts) {
  return request.which == Which::smallest && !request.interval && !request.sigma &&
         !facts.normal_equations && facts.A.stored && (!facts.B.given || facts.B.stored) &&
         facts.A.rows == facts.A.cols;
}

MethodChoice choose_at_smallest_end(const Request& request, const Facts& facts,
                                    const std::function<double()>& factor_operations) {
  const auto choice = [&](Method method, std::string reason, bool may_continue = false) {
    MethodChoice chosen{request, std::move(reason), may_continue};
    chosen.request.method = method;
    return chosen;
  };
  if (request.filter || request.max_basis > 0) {
    return choice(Method::block_lanczos, "the request has options of block Lanczos");
  }
  if (facts.preconditioner.given || request.preconditioner.type != "auto") {
    return choice(Method::lobpcg, "a preconditioner is given");
  }
  if (facts.infinite_eigenvalues.value_or(0) > 0) {
    return choice(Method::block_lanczos, "the mass matrix is singular");
  }
  if (facts.sizes().null_vectors >= request.nev) {
    return choice(Method::lobpcg, "all wanted pairs are null vectors that the graph of A shows");
  }
  if (!has_inverse(request, facts)) {
    return choice(Method::lobpcg, "the matrices are not stored, so that none can be factored");
  }
  if (facts.processes > 1) {
    return choice(Method::lobpcg,
                  "several processes or GPUs hold the matrices, so that none is factored");
  }
  // The first stage of mixed precision iterates in single, which spoils inverses of stiff matrices.
  if (request.precision != Precision::full) {
    return choice(Method::lobpcg, "the precision is not double");
  }
  const double operations = factor_operations();
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

MethodChoice choose_method(const Request& request, const Facts& facts,
                           const std::function<double()>& factor_operations) {
  MethodChoice choice{request, "", false};
  if (request.method == Method::automatic) {
    if (facts.rhs.cols > 0) {
      choice.request.method = Method::block_cg;
      choice.reason = "there are right-hand sides";
    } else if (request.interval) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "an interval is given";
    } else if (request.sigma) {
      choice.request.method = Method::block_lanczos;
      choice.reason =
          facts.buckling ? "load factors are wanted" : "pairs nearest to sigma are wanted";
    } else if (facts.constraints.cols > 0) {
      choice.request.method = Method::lobpcg;
      choice.reason = "constraints are given";
    } else if (request.which == Which::largest) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "the largest end needs no preconditioner";
    } else if (facts.normal_equations) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "polynomial filters reach small singular values";
    } else {
      choice = choose_at_smallest_end(request, facts, factor_operations);
    }
  }
  if (choice.request.max_iterations == 0) {
    choice.request.max_iterations = is_eigensolver(choice.request.method)
                                        ? EigenOptions{}.max_iterations
                                        : LinearOptions{}.max_iterations;
  }
  // A checkpoint holds one solve.
  if (!request.checkpoint.file.empty()) choice.may_continue = false;
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
