#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/input.hpp>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/near_null.hpp>
#include <heddle/drivers/null_space.hpp>
#include <heddle/drivers/order_problem.hpp>
#include <heddle/drivers/placed.hpp>
#include <heddle/drivers/preconditioner.hpp>
#include <heddle/drivers/regular_pencil.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Checks that a method solves pencils with a singular B.
void check_singular_mass(const Request& request, const Problem& problem) {
  const Index infinite = problem.infinite_eigenvalues.value_or(0);
  if (infinite == 0) return;
  const auto refuse = [infinite](std::string_view message) {
    throw ProblemError(
        ProblemPart::mass,
        fmt::format("the mass matrix is singular, its null space has dimension {}: {}", infinite,
                    message));
  };
  if (request.which == Which::largest) {
    refuse("the largest eigenvalues are infinite, only the smallest ones can be found");
  }
  if (request.method == Method::lobpcg) {
    refuse(
        "lobpcg needs a positive definite one, use block_lanczos (heddle-lanczos), which factors "
        "A - sigma B");
  }
  if (problem.processes > 1) {
    refuse(
        "only the inverse of A - sigma B solves such a pencil, which several processes or GPUs "
        "cannot factor: use one process and devices: 1");
  }
  if (!may_invert(request, problem.sizes())) {
    refuse("only the inverse of A - sigma B solves such a pencil, use filter: auto or inverse");
  }
  if (!problem.A.is_stored()) {
    refuse("A - sigma B must be factored, so A must be stored");
  }
}

void check_B(HostContext& context, Problem& problem) {
  const Matrix& B = *problem.B;
  check_order_of_mass(problem);
  if (!B.is_stored()) return;
  if (problem.infinite_eigenvalues) return;
  check_symmetric(context, ProblemPart::mass, B);
  problem.infinite_eigenvalues = null_space_of_mass(context, B.view());
}

std::string describe_columns(const Problem& problem) {
  if (!problem.normal_equations) return describe_rows(problem);
  return fmt::format("has {} columns", problem.A.cols());
}

/// Checks the length of a block, and gives an empty block this length.
void check_block(Block& block, ProblemPart part, Index length, const std::string& described) {
  if (block.cols() == 0) {
    block = Block(ConstBlockView<double, HostSpace>(nullptr, length, 0, 0));
  } else if (block.rows() != length) {
    throw ProblemError(
        part, fmt::format("the block has {} rows, the matrix {}", block.rows(), described));
  }
}

void check_guess(const Problem& problem) {
  const Index guesses = problem.initial_guess.cols();
  if (guesses == 0 || guesses == problem.rhs.cols()) return;
  throw ProblemError(ProblemPart::initial_guess,
                     fmt::format("the initial guess has {} columns, there are {} right-hand sides",
                                 guesses, problem.rhs.cols()));
}

void check_nev(const Request& request, const Problem& problem) {
  const Index order = problem.order();
  const Index constraints = problem.constraints.cols();
  const Index infinite = problem.infinite_eigenvalues.value_or(0);
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

void check_triplet_count(const Request& request, const Matrix& A) {
  const Index most = std::min(A.rows(), A.cols());
  if (request.nev <= most) return;
  throw RequestError("nev", fmt::format(" is {}, but a matrix of {} x {} has {} singular values",
                                        request.nev, A.rows(), A.cols(), most));
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
void check_method(const Request& request, const Problem& problem) {
  const std::string_view name = method_name(request.method);
  const Index rhs = problem.rhs.cols();
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
  if (problem.B) {
    throw ProblemError(ProblemPart::mass, fmt::format("{} takes no mass matrix", name));
  }
}

/// Rejects constraints, which only the ends of a spectrum take.
void check_constraints(const Request& request, const Problem& problem) {
  if (problem.constraints.cols() == 0 || is_eigensolver(request.method)) return;
  throw ProblemError(ProblemPart::constraints,
                     fmt::format("{} takes none", method_name(request.method)));
}

/// Aᵀ as given has the shape of Aᵀ.
void check_transpose(const Matrix& A, const Matrix& A_transposed) {
  if (A_transposed.rows() == A.cols() && A_transposed.cols() == A.rows()) return;
  throw ProblemError(ProblemPart::matrix,
                     fmt::format("the matrix is {} x {}, A_transposed {} x {}", A.rows(), A.cols(),
                                 A_transposed.rows(), A_transposed.cols()));
}

/// Rejects requests and problems that do not work with a callable, of which only products are
/// known.
void check_callables(const Request& request, const Problem& problem) {
  const std::string_view part = callable_part(problem);
  if (part.empty()) return;
  if (request.precision != Precision::full) {
    throw RequestError("precision", fmt::format(": single and mixed need stored matrices, {} is a "
                                                "callable in double precision",
                                                part));
  }
  if (problem.B && !problem.B->is_stored() && request.method == Method::block_lanczos) {
    throw ProblemError(ProblemPart::mass,
                       "block_lanczos divides by B, which must be stored; lobpcg takes a callable");
  }
  if (problem.normal_equations && !problem.A.is_stored() && !problem.A_transposed) {
    throw ProblemError(ProblemPart::matrix,
                       "a callable with normal_equations needs A_transposed, too");
  }
}

/// Rejects what needs a whole matrix in one process.
void check_distributed(const Request& request, const Problem& problem) {
  if (problem.processes == 1) return;
  const std::string_view part = callable_part(problem);
  if (!part.empty()) {
    throw InvalidArgument(fmt::format(
        "several processes or GPUs solve problems with stored matrices, {} is a callable", part));
  }
  if (request.filter == LanczosFilter::inverse) {
    throw RequestError("filter",
                       ": inverse factors A - sigma B, which needs a whole matrix in one "
                       "process: use auto, or one process and devices: 1");
  }
  if (problem.normal_equations) {
    if (request.distribution != Distribution::metis) return;
    throw RequestError("distribution",
                       ": metis orders rows and columns alike, which normal equations do not: use "
                       "auto or rows");
  }
  const std::string missing = no_parts_reason(problem.order(), problem.nnz());
  if (request.distribution == Distribution::metis && !missing.empty()) {
    throw RequestError("distribution", ": metis cannot be used: " + missing);
  }
  if (problem.order() >= problem.processes) return;
  throw ProblemError(
      ProblemPart::matrix,
      fmt::format("there are {} processes or GPUs, but the matrix has {} rows: use fewer",
                  problem.processes, problem.order()));
}

/// Rejects a precision of the preconditioner that it cannot have. It has no effect on a method that
/// takes no preconditioner.
void check_preconditioner_precision(const Request& request, const Problem& problem,
                                    const PreconditionerPlan& plan) {
  if (preconditioned_problem(request, problem).task == PreconditionedTask::unpreconditioned) return;
  if (all_known(request, problem.sizes())) return;
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

void check_preconditioner(const Request& request, const Problem& problem) {
  if (problem.preconditioner) {
    const auto refuse = [](const std::string& message) {
      throw ProblemError(ProblemPart::preconditioner, message);
    };
    if (preconditioned_problem(request, problem.sizes()).task ==
        PreconditionedTask::unpreconditioned) {
      refuse(fmt::format("{} takes none", method_of(request, problem.sizes()).name));
    }
    const Index order = problem.A.cols();
    const Matrix& given = *problem.preconditioner;
    if (given.rows() != order || given.cols() != order) {
      refuse(
          fmt::format("is {} x {}, the vectors have {} rows", given.rows(), given.cols(), order));
    }
    if (request.preconditioner.type != "auto") {
      refuse("the problem brings one, the request names another");
    }
    if (asks_for_lower(request.preconditioner.precision)) {
      refuse_lower_precision(request.preconditioner.precision,
                             "the problem brings its own in double precision");
    }
    return;
  }
  check_preconditioner_precision(request, problem, plan_preconditioner(request, problem));
}

}  // namespace

void check_order_of_mass(const Problem& problem) {
  const Matrix& B = *problem.B;
  check_square(ProblemPart::mass, B);
  if (B.rows() == problem.order()) return;
  throw ProblemError(ProblemPart::mass,
                     fmt::format("the mass matrix has order {}, the matrix has order {}", B.rows(),
                                 problem.order()));
}

void inspect_mass(HostContext& context, Problem& problem) {
  if (problem.B) check_B(context, problem);
}

void check_shape(const Matrix& A, bool normal_equations) {
  if (!normal_equations) return check_square(ProblemPart::matrix, A);
  if (A.rows() > 0 && A.cols() > 0) return;
  throw ProblemError(ProblemPart::matrix,
                     fmt::format("the matrix is {} x {}, it has no entries", A.rows(), A.cols()));
}

std::string describe_rows(const Problem& problem) {
  return problem.normal_equations ? fmt::format("has {} rows", problem.A.rows())
                                  : fmt::format("has order {}", problem.A.rows());
}

void check_kind(Problem& problem, const Request& request) {
  if (!problem.normal_equations) problem.A_transposed.reset();
  check_method(request, problem);
  check_constraints(request, problem);
  check_callables(request, problem);
  check_distributed(request, problem);
  check_shape(problem.A, problem.normal_equations);
}

void check_parts(HostContext& context, Problem& problem, const Request& request) {
  check_singular_mass(request, problem);
  const Index order = problem.order();
  const std::string rows = describe_rows(problem);
  check_block(problem.constraints, ProblemPart::constraints, order, rows);
  check_block(problem.initial_guess, ProblemPart::initial_guess, problem.A.cols(),
              describe_columns(problem));
  const Index rhs_rows = problem.own_rhs ? row_range(problem.A.view()).local : order;
  check_block(problem.rhs, ProblemPart::rhs, rhs_rows, rows);
  if (problem.A_transposed) check_transpose(problem.A, *problem.A_transposed);
  prepare_near_null(context, problem);
  check_preconditioner(request, problem);
  check_order(request, problem);
  if (!is_eigensolver(request.method)) {
    check_guess(problem);
  } else if (problem.normal_equations) {
    check_triplet_count(request, problem.A);
  } else {
    check_nev(request, problem);
    check_basis(request, problem.sizes());
  }
}

void prepare(HostContext& context, Problem& problem, const Request& request,
             const Monitor& monitor) {
  check_kind(problem, request);
  if (problem.A.is_stored() && !problem.normal_equations && !problem.own_rows) {
    check_symmetric(context, ProblemPart::matrix, problem.A);
  }
  if (problem.B) check_B(context, problem);
  if (problem.B && problem.B->is_stored() && problem.A.is_stored() && !problem.own_rows) {
    check_regular(context, problem.A.view(), problem.B->view(),
                  problem.infinite_eigenvalues.value_or(0) > 0, monitor);
  }
  check_parts(context, problem, request);
  if (problem.normal_equations && !problem.A_transposed) {
    const CsrView<double, HostSpace> A = problem.A.view();
    problem.A_transposed = equals_transpose(A) ? problem.A : Matrix(transpose(context, A));
  }
  check_precision(problem, request);
}

}  // namespace heddle::detail
