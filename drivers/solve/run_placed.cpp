#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/solve/run_placed.hpp>
#include <numbers>
#include <optional>
#include <utility>

namespace heddle::detail {

void report_preconditioner(PreconditionerReport report, Solution& solution) {
  solution.preconditioner_name = std::move(report.name);
  solution.preconditioner_reason = std::move(report.reason);
  solution.preconditioner = {report.seconds, report.bytes};
  solution.preconditioner_precision = {std::move(report.precision),
                                       std::move(report.precision_reason)};
  solution.preconditioner_strength = report.degree;
  solution.preconditioner_levels = std::move(report.levels);
}

void report_sizes(const ProblemSizes& sizes, Solution& solution) {
  solution.infinite_eigenvalues = sizes.infinite_eigenvalues;
  if (solution.infinite_eigenvalues > 0) {
    solution.reason +=
        fmt::format("; the mass matrix is singular, {} infinite eigenvalues are left out",
                    solution.infinite_eigenvalues);
  }
  if (sizes.rhs == 0) solution.null_vectors = sizes.null_vectors;
  if (sizes.null_vectors > 0 && sizes.rhs > 0) {
    solution.reason += fmt::format(
        "; A is singular: solutions differ by its null vectors, of which the graph of the matrix "
        "shows {}",
        sizes.null_vectors);
  } else if (sizes.null_vectors > 0) {
    solution.reason += fmt::format(
        "; of these, {} {} known before the solve: the graph of the matrix shows null vectors",
        solution.null_vectors, solution.null_vectors == 1 ? "was" : "were");
  }
}

void report_norms(std::optional<double> norm_A, std::optional<double> norm_B, Solution& solution) {
  // The largest eigenvalue of stiffness and mass is about the ratio of their norms, (2πf)².
  constexpr double kExchanged = 1e6;
  if (!norm_A || !norm_B || *norm_A == 0 || *norm_B < kExchanged * *norm_A) return;
  solution.reason += fmt::format(
      "; the mass matrix is {:.0e} times as large as A: are the two exchanged?", *norm_B / *norm_A);
}

void report_load_factors(const Request& request, Solution& solution) {
  if (solution.status == SolveStatus::indefinite) {
    solution.reason +=
        "; a stiffness is positive definite if supports hold the structure, which must not be able "
        "to move freely";
  } else if (solution.status == SolveStatus::converged && solution.count() < request.nev) {
    solution.reason += "; these are the load factors";
    if (request.side == Side::above && request.sigma == 0.0) {
      solution.reason += solution.count() > 0
                             ? ", and side: both also finds those of the reversed load"
                             : ", and none is positive: the geometric stiffness may have the "
                               "other sign, side: below finds negative ones";
    }
  }
}

std::vector<double> frequencies_of(const std::vector<double>& eigenvalues) {
  std::vector<double> frequencies;
  for (const double lambda : eigenvalues) {
    frequencies.push_back(std::copysign(std::sqrt(std::abs(lambda)), lambda) /
                          (2 * std::numbers::pi));
  }
  return frequencies;
}

}  // namespace heddle::detail
