#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/plan/checks.hpp>
#include <heddle/drivers/plan/method_options.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/plan/request_rules.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Checks that a method solves pencils with a singular B.
void check_singular_mass(const Request& request, const Facts& facts) {
  const Index infinite = facts.infinite_eigenvalues.value_or(0);
  if (infinite == 0) return;
  const auto refuse = [infinite](std::string_view message) {
    throw ProblemError(
        ProblemPart::mass,
        fmt::format("the mass matrix is singular, its null space has dimension {}: {}", infinite,
                    message));
  };
  if (counts_by_factors(request)) return;
  if (request.which == Which::largest) {
    refuse("the largest eigenvalues are infinite, only the smallest ones can be found");
  }
  if (request.method == Method::lobpcg) {
    refuse(
        "lobpcg needs a positive definite one, use block_lanczos (heddle-lanczos), which factors "
        "A - sigma B");
  }
  if (facts.processes > 1) {
    refuse(
        "only the inverse of A - sigma B solves such a pencil, which several processes or GPUs "
        "cannot factor: use one process and devices: 1");
  }
  if (!may_invert(request, facts.sizes())) {
    refuse("only the inverse of A - sigma B solves such a pencil, use filter: auto or inverse");
  }
  if (!facts.A.stored) {
    refuse("A - sigma B must be factored, so A must be stored");
  }
}

std::string describe_columns(const Facts& facts) {
  if (!facts.normal_equations) return describe_rows(facts);
  return fmt::format("has {} columns", facts.A.cols);
}

void check_block(const BlockShape& block, ProblemPart part, Index length,
                 const std::string& described) {
  if (block.cols == 0 || block.rows == length) return;
  throw ProblemError(part,
                     fmt::format("the block has {} rows, the matrix {}", block.rows, described));
}

void check_guess(const Facts& facts) {
  const Index guesses = facts.initial_guess.cols;
  if (guesses == 0 || guesses == facts.rhs.cols) return;
  throw ProblemError(ProblemPart::initial_guess,
                     fmt::format("the initial guess has {} columns, there are {} right-hand sides",
                                 guesses, facts.rhs.cols));
}

void check_nev(const Request& request, const Facts& facts) {
  const Index order = facts.order();
  const Index constraints = facts.constraints.cols;
  const Index infinite = facts.infinite_eigenvalues.value_or(0);
  if (infinite > 0 && request.nev > order - infinite) {
    throw RequestError("nev", fmt::format(" is {}, but {} of the eigenvalues are finite: the mass "
                                          "matrix is singular, with a null space of dimension {}",
                                          request.nev, order - infinite, infinite));
  }
  if (request.nev <= order - constraints) return;
  const std::string room =
      constraints == 0
          ? fmt::format("the matrix has order {}", order)
          : fmt::format("the matrix has order {} and there are {} constraints", order, constraints);
  throw RequestError("nev", fmt::format(" is {}, but {}: nev must be at most {}", request.nev, room,
                                        order - constraints));
}

void check_triplet_count(const Request& request, const MatrixShape& A) {
  const Index most = std::min(A.rows, A.cols);
  if (request.nev <= most) return;
  throw RequestError("nev", fmt::format(" is {}, but a matrix of {} x {} has {} singular values",
                                        request.nev, A.rows, A.cols, most));
}

void check_basis(const Request& request, const ProblemSizes& sizes) {
  if (request.method != Method::block_lanczos || request.max_basis == 0) return;
  const Index block =
      block_lanczos_shape(block_lanczos_options(request), sizes.n, sizes.pencil).block;
  const Index least = request.nev + 2 * block;
  if (request.max_basis >= least) return;
  throw RequestError("max_basis",
                     fmt::format(" is {}, but nev and two blocks of {} need at least {}",
                                 request.max_basis, block, least));
}

/// Checks that the method solves this kind of problem.
void check_method(const Request& request, const Facts& facts) {
  const std::string_view name = method_name(request.method);
  const Index rhs = facts.rhs.cols;
  if (is_eigensolver(request.method)) {
    if (rhs == 0) return;
    throw RequestError("method", fmt::format(": {} is for eigenproblems, the problem has {} "
                                             "right-hand sides",
                                             name, rhs));
  }
  if (rhs == 0) {
    throw RequestError("method",
                       fmt::format(": {} needs right-hand sides, the problem has none", name));
  }
  if (facts.B.given) {
    throw ProblemError(ProblemPart::mass, fmt::format("{} takes no mass matrix", name));
  }
}

/// Rejects constraints, which only the ends of a spectrum take.
void check_constraints(const Request& request, const Facts& facts) {
  if (facts.constraints.cols == 0 || is_eigensolver(request.method)) return;
  throw ProblemError(ProblemPart::constraints,
                     fmt::format("{} takes none", method_name(request.method)));
}

void check_transpose(const MatrixShape& A, const MatrixShape& A_transposed) {
  if (A_transposed.rows == A.cols && A_transposed.cols == A.rows) return;
  throw ProblemError(ProblemPart::matrix,
                     fmt::format("the matrix is {} x {}, A_transposed {} x {}", A.rows, A.cols,
                                 A_transposed.rows, A_transposed.cols));
}

void check_order_of_mass(const Facts& facts) {
  const ProblemPart part = part_of_B(facts.buckling);
  check_square(part, facts.B.rows, facts.B.cols);
  if (facts.B.rows == facts.order()) return;
  throw ProblemError(part, fmt::format("{} has order {}, the matrix has order {}",
                                       name_of_B(facts.buckling), facts.B.rows, facts.order()));
}

/// Rejects requests and problems that do not work with a callable, of which only products are
/// known.
void check_callables(const Request& request, const Facts& facts) {
  const std::string_view part = callable_part(facts);
  if (part.empty()) return;
  if (request.precision != Precision::full) {
    throw RequestError("precision", fmt::format(": single and mixed need stored matrices, {} is a "
                                                "callable in double precision",
                                                part));
  }
  if (facts.B.given && !facts.B.stored && !facts.buckling &&
      request.method == Method::block_lanczos) {
    throw ProblemError(ProblemPart::mass,
                       "block_lanczos divides by B, which must be stored; lobpcg takes a callable");
  }
  if (facts.normal_equations && !facts.A.stored && !facts.A_transposed.given) {
    throw ProblemError(ProblemPart::matrix,
                       "a callable with normal_equations needs A_transposed, too");
  }
}

/// Rejects what counts eigenvalues by factors where A − σB cannot be factored: a σ, and an interval
/// of a pencil or with this filter.
void check_counts(const Request& request, const Facts& facts) {
  if (request.sigma && request.interval) {
    throw RequestError("sigma", " does not go with interval");
  }
  const bool inverts = facts.B.given || request.filter == LanczosFilter::inverse;
  if (!request.sigma && !(request.interval && inverts)) return;
  const std::string_view part = callable_part(facts);
  if (!part.empty()) {
    throw RequestError(request.sigma ? "sigma" : "interval",
                       fmt::format(": A - sigma B must be factored, {} is a callable", part));
  }
  if (facts.processes == 1 || request.precision == Precision::full) return;
  throw RequestError("precision",
                     ": factors that count eigenvalues on several processes or GPUs are in double "
                     "precision: use double");
}

/// Rejects what needs a whole matrix in one process.
void check_distributed(const Request& request, const Facts& facts) {
  if (facts.processes == 1) return;
  const std::string_view part = callable_part(facts);
  if (!part.empty()) {
    throw InvalidArgument(fmt::format(
        "several processes or GPUs solve problems with stored matrices, {} is a callable", part));
  }
  if (request.filter == LanczosFilter::inverse && !request.interval) {
    throw RequestError("filter",
                       ": inverse factors A - sigma B, which needs a whole matrix in one "
                       "process: use auto, or one process and devices: 1");
  }
  if (facts.normal_equations) {
    if (request.distribution != Distribution::metis) return;
    throw RequestError("distribution",
                       ": metis orders rows and columns alike, which normal equations do not: use "
                       "auto or rows");
  }
  const std::string missing = no_parts_reason(facts.order(), facts.A.nnz);
  if (request.distribution == Distribution::metis && !missing.empty()) {
    throw RequestError("distribution", ": metis cannot be used: " + missing);
  }
  if (facts.order() >= facts.processes) return;
  throw ProblemError(
      ProblemPart::matrix,
      fmt::format("there are {} processes or GPUs, but the matrix has {} rows: use fewer",
                  facts.processes, facts.order()));
}

/// Rejects a precision of the preconditioner that it cannot have. It has no effect on a method that
/// takes no preconditioner.
void check_preconditioner_precision(const Request& request, const Facts& facts,
                                    const PreconditionerPlan& plan) {
  if (preconditioned_problem(request, facts).task == PreconditionedTask::unpreconditioned) return;
  if (all_known(request, facts.sizes())) return;
  const PreconditionerPrecision asked = request.preconditioner.precision;
  if (asks_for_lower(asked) && !plan.lowered) {
    refuse_lower_precision(asked, plan.precision_reason);
  }
  if (asked == PreconditionerPrecision::full && request.precision != Precision::full) {
    throw RequestError(
        "preconditioner.precision",
        ": double needs a solve in double precision; use auto, or precision: double");
  }
}

void check_given_preconditioner(const Request& request, const Facts& facts) {
  const auto refuse = [](const std::string& message) {
    throw ProblemError(ProblemPart::preconditioner, message);
  };
  if (preconditioned_problem(request, facts.sizes()).task == PreconditionedTask::unpreconditioned) {
    refuse(fmt::format("{} takes none", method_of(request, facts.sizes()).name));
  }
  const Index order = facts.A.cols;
  const MatrixShape& given = facts.preconditioner;
  if (given.rows != order || given.cols != order) {
    refuse(fmt::format("is {} x {}, the vectors have {} rows", given.rows, given.cols, order));
  }
  if (request.preconditioner.type != "auto") {
    refuse("the problem brings one, the request names another");
  }
  if (asks_for_lower(request.preconditioner.precision)) {
    refuse_lower_precision(request.preconditioner.precision,
                           "the problem brings its own in double precision");
  }
}

void check_preconditioner(const Request& request, const Facts& facts,
                          const PreconditionerPlan& plan) {
  if (facts.preconditioner.given) return check_given_preconditioner(request, facts);
  check_preconditioner_precision(request, facts, plan);
}

void check_factorization(FactorLibrary library, bool on_gpu) {
  if (!is_cudss(library)) return;
  if (!on_gpu) {
    throw RequestError("factorization",
                       ": cudss factors in the memory of a GPU, and this solve runs on the host: "
                       "use auto or host, or device: cuda");
  }
  if (!cudss_missing().empty()) {
    throw RequestError("factorization", ": cudss cannot be used: " + cudss_missing());
  }
}

void check_kernel(const Machine& machine, const Request& request) {
  const std::string& asked = request.spmm.kernel;
  const std::vector<std::string_view>& known = machine.kernels;
  if (std::find(known.begin(), known.end(), asked) != known.end()) return;
  throw RequestError("spmm.kernel",
                     fmt::format(": {} is not known on {}; known: {}", asked,
                                 machine.on_gpu ? "the GPU" : "the host", fmt::join(known, ", ")));
}

}  // namespace

void check_kind(const Facts& facts, const Request& request, bool chosen) {
  check_request(request, asked_problem(request, facts), chosen);
  check_method(request, facts);
  check_constraints(request, facts);
  check_callables(request, facts);
  check_counts(request, facts);
  check_certify(request, facts);
  check_distributed(request, facts);
}

void check_shapes(const Facts& facts) {
  check_shape(facts.A.rows, facts.A.cols, facts.normal_equations);
  if (facts.B.given) check_order_of_mass(facts);
  const std::string rows = describe_rows(facts);
  check_block(facts.constraints, ProblemPart::constraints, facts.order(), rows);
  check_block(facts.initial_guess, ProblemPart::initial_guess, facts.A.cols,
              describe_columns(facts));
  if (!facts.own_rhs) check_block(facts.rhs, ProblemPart::rhs, facts.order(), rows);
  if (facts.A_transposed.given) check_transpose(facts.A, facts.A_transposed);
}

void check_found(const Machine& machine, const Facts& facts, const Request& request,
                 const PreconditionerPlan& plan) {
  check_kernel(machine, request);
  check_singular_mass(request, facts);
  if (request.method == Method::block_lanczos &&
      (request.sigma || !all_known(request, facts.sizes()))) {
    check_factorization(request.factorization, machine.on_gpu);
  }
  check_preconditioner(request, facts, plan);
  if (!is_eigensolver(request.method)) {
    check_guess(facts);
  } else if (facts.normal_equations) {
    check_triplet_count(request, facts.A);
  } else {
    check_nev(request, facts);
    check_basis(request, facts.sizes());
  }
}

}  // namespace heddle::detail
