#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle::detail {
namespace {

/// Binary exponents up to this size leave room for squares, for sums over rows and for residuals
/// that are rounding errors, also in AᵀA.
constexpr int kSafeExponent = 150;
/// The same in single precision, which ends at 2^127.
constexpr int kSafeExponentOfSingle = 30;

/// The limits between which the largest magnitude of some numbers must lie.
struct Limits {
  std::string of;
  double most;
  /// If the largest number has this size, an underflow is less than its rounding error.
  double least;
  std::string_view advice;
};

const Limits& single_precision() {
  using Number = std::numeric_limits<float>;
  static const Limits limits = {"single precision", Number::max(),
                                static_cast<double>(Number::min()) / Number::epsilon(),
                                "use precision: double"};
  return limits;
}

/// The limits of numbers whose squares must lie within `limits`.
Limits of_squares(const Limits& limits) {
  return {"A^T A in " + limits.of, std::sqrt(limits.most), std::sqrt(limits.least), limits.advice};
}

/// Throws `ProblemError` if `largest`, the largest magnitude of some numbers, is outside of
/// `limits`.
void check_scale(double largest, std::string_view what, const Limits& limits, ProblemPart part) {
  if (largest > limits.most) {
    throw ProblemError(part, fmt::format("{} has an entry of size {:g}, {} ends at {:.2g}: {}",
                                         what, largest, limits.of, limits.most, limits.advice));
  }
  if (largest > 0 && largest < limits.least) {
    throw ProblemError(part, fmt::format("the largest entry of {} is {:g}, {} needs {:.2g}: {}",
                                         what, largest, limits.of, limits.least, limits.advice));
  }
}

void check_diagonal(CsrView<double, HostSpace> A, std::string_view what, ProblemPart part) {
  constexpr double kSmallest = std::numeric_limits<float>::min();  // the smallest normalised number
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const double size = std::abs(A.values[k]);
      if (A.columns[k] != i || size == 0 || size >= kSmallest) continue;
      throw ProblemError(
          part,
          fmt::format("diagonal entry ({0}, {0}) of {1} is {2:g}, single precision needs a size "
                      "of {3:.2g}: {4}",
                      i + 1, what, A.values[k], kSmallest, single_precision().advice));
    }
  }
}

void check_matrix(const Matrix& A, ProblemPart part, std::string_view what, const Limits& limits) {
  check_scale(A.largest(), what, limits, part);
}

/// Checks a symmetric matrix for single precision.
void check_symmetric_matrix(const Matrix& A, ProblemPart part, std::string_view what) {
  check_matrix(A, part, what, single_precision());
  check_diagonal(A.distributed_view().own, what, part);
}

void check_block(const Block& X, ProblemPart part) {
  for (Index j = 0; j < X.cols(); ++j) {
    double largest = 0;
    for (Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X.view()(i, j)));
    check_scale(largest, fmt::format("column {}", j + 1), single_precision(), part);
  }
}

HostBlock<float> rounded(HostContext& context, const Block& source) {
  MultiVector<float, HostSpace> target(context, source.rows(), source.cols());
  for (Index i = 0; i < source.rows(); ++i) {
    for (Index j = 0; j < source.cols(); ++j) {
      target.view()(i, j) = static_cast<float>(source.view()(i, j));
    }
  }
  return HostBlock<float>(std::move(target));
}

}  // namespace

int moderating_exponent(double largest, Precision precision) {
  const int safe = precision == Precision::full ? kSafeExponent : kSafeExponentOfSingle;
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const int exponent = std::ilogb(largest);
  return std::abs(exponent) <= safe ? 0 : -exponent;
}

void check_precision(const Problem& problem, const Request& request) {
  constexpr std::string_view kMatrix = "the matrix";
  if (request.precision == Precision::full) return;
  if (problem.normal_equations && !is_eigensolver(request.method)) {
    check_matrix(problem.A, ProblemPart::matrix, kMatrix, of_squares(single_precision()));
  }
  if (problem.normal_equations) {
    check_matrix(problem.A, ProblemPart::matrix, kMatrix, single_precision());
  } else {
    check_symmetric_matrix(problem.A, ProblemPart::matrix, kMatrix);
  }
  if (problem.B) {
    const bool buckling = problem.geometric_stiffness.has_value();
    check_symmetric_matrix(*problem.B, part_of_B(buckling), name_of_B(buckling));
  }
  if (problem.preconditioner) {
    check_symmetric_matrix(*problem.preconditioner, ProblemPart::preconditioner,
                           "the preconditioner");
  }
  check_block(problem.constraints, ProblemPart::constraints);
  check_block(problem.initial_guess, ProblemPart::initial_guess);
  check_block(problem.rhs, ProblemPart::rhs);
}

HostProblem<float> to_single(HostContext& context, const Problem& problem) {
  const auto rounded_matrix = [&](const Matrix& A) {
    DistributedCsr<float, HostSpace> copy = convert<float>(context, A.distributed_view());
    return A.whole() != nullptr ? HostMatrix<float>(std::move(copy), *A.whole())
                                : HostMatrix<float>(std::move(copy));
  };
  HostProblem<float> single;
  single.normal_equations = problem.normal_equations;
  single.infinite_eigenvalues = problem.infinite_eigenvalues;
  single.near_null = problem.near_null;
  single.unknowns = problem.unknowns;
  single.A = rounded_matrix(problem.A);
  if (problem.B) single.B = rounded_matrix(*problem.B);
  if (problem.A_transposed) single.A_transposed = rounded_matrix(*problem.A_transposed);
  if (problem.preconditioner) single.preconditioner = rounded_matrix(*problem.preconditioner);
  single.constraints = rounded(context, problem.constraints);
  single.initial_guess = rounded(context, problem.initial_guess);
  single.guess_from_random = problem.guess_from_random;
  single.rhs = rounded(context, problem.rhs);
  return single;
}

}  // namespace heddle::detail
