#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/apps/precision.hpp>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle::apps {
namespace {

using HostMatrix = HostCsrMatrix<double>;
using HostBlock = MultiVector<double, HostSpace>;
using Refuse = std::function<void(const std::string& message)>;

/// Between what magnitudes the largest of some numbers must be.
struct Limits {
  std::string of;
  double most;
  double least;  ///< what underflows is less than the rounding of such a number
  std::string_view advice;
};

template <Scalar T>
Limits limits_of(std::string of, std::string_view advice) {
  using Number = std::numeric_limits<T>;
  return {std::move(of), Number::max(), static_cast<double>(Number::min()) / Number::epsilon(),
          advice};
}

const Limits& single_precision() {
  static const Limits limits = limits_of<float>("single precision", "use precision: double");
  return limits;
}

/// Of numbers whose squares `limits` are for.
Limits of_squares(const Limits& limits) {
  return {"A^T A in " + limits.of, std::sqrt(limits.most), std::sqrt(limits.least), limits.advice};
}

/// Refuses numbers, the largest of which has this magnitude.
void check_scale(double largest, std::string_view what, const Limits& limits,
                 const Refuse& refuse) {
  if (largest > limits.most) {
    refuse(fmt::format("{} has an entry of size {:g}, {} ends at {:.2g}: {}", what, largest,
                       limits.of, limits.most, limits.advice));
  }
  if (largest > 0 && largest < limits.least) {
    refuse(fmt::format("the largest entry of {} is {:g}, {} needs {:.2g}: {}", what, largest,
                       limits.of, limits.least, limits.advice));
  }
}

void check_diagonal(CsrView<double, HostSpace> A, std::string_view what, const Refuse& refuse) {
  constexpr double kSmallest = std::numeric_limits<float>::min();  // with all its digits
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const double size = std::abs(A.values[k]);
      if (A.columns[k] != i || size == 0 || size >= kSmallest) continue;
      refuse(
          fmt::format("diagonal entry ({0}, {0}) of {1} is {2:g}, single precision needs a size "
                      "of {3:.2g}: {4}",
                      i + 1, what, A.values[k], kSmallest, single_precision().advice));
    }
  }
}

void check_matrix(const HostMatrix& A, const MatrixSource& source, std::string_view what,
                  const Limits& limits) {
  const CsrView<double, HostSpace> view = A.view();
  double largest = 0;
  for (Index k = 0; k < view.nnz; ++k) largest = std::max(largest, std::abs(view.values[k]));
  check_scale(largest, what, limits, [&](const std::string& text) { refuse(source, text); });
}

/// Of a symmetric matrix, in single precision.
void check_symmetric_matrix(const HostMatrix& A, const MatrixSource& source,
                            std::string_view what) {
  check_matrix(A, source, what, single_precision());
  check_diagonal(A.view(), what, [&](const std::string& text) { refuse(source, text); });
}

void check_block(const HostBlock& X, const std::filesystem::path& path) {
  for (Index j = 0; j < X.cols(); ++j) {
    double largest = 0;
    for (Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X.view()(i, j)));
    check_scale(largest, fmt::format("column {}", j + 1), single_precision(),
                [&](const std::string& text) { throw InputError(path.string(), 0, text); });
  }
}

MultiVector<float, HostSpace> rounded(HostContext& context, const HostBlock& source) {
  MultiVector<float, HostSpace> target(context, source.rows(), source.cols());
  for (Index i = 0; i < source.rows(); ++i) {
    for (Index j = 0; j < source.cols(); ++j) {
      target.view()(i, j) = static_cast<float>(source.view()(i, j));
    }
  }
  return target;
}

}  // namespace

void check_precision(const ProblemInput<double>& input, const Config& config) {
  const ProblemConfig& problem = config.problem;
  const bool exact = config.precision == Precision::full;
  if (solves_least_squares(config)) {
    const Limits limits =
        exact ? limits_of<double>("double precision", "scale it") : single_precision();
    check_matrix(input.A, problem.matrix, "the matrix", of_squares(limits));
  }
  if (exact) return;
  if (uses_transpose(config)) {
    check_matrix(input.A, problem.matrix, "the matrix", single_precision());
  } else {
    check_symmetric_matrix(input.A, problem.matrix, "the matrix");
  }
  if (input.B) check_symmetric_matrix(*input.B, *problem.mass, "the mass matrix");
  check_block(input.constraints, problem.constraints);
  check_block(input.initial_guess, problem.initial_guess);
  check_block(input.rhs, problem.rhs.path);
}

ProblemInput<float> to_single(HostContext& context, const ProblemInput<double>& input) {
  const auto rounded_matrix = [&](const HostMatrix& A) {
    return convert<float>(context, A.view());
  };
  ProblemInput<float> single;
  single.A = rounded_matrix(input.A);
  if (input.B) single.B = rounded_matrix(*input.B);
  if (input.A_transposed) single.A_transposed = rounded_matrix(*input.A_transposed);
  single.constraints = rounded(context, input.constraints);
  single.initial_guess = rounded(context, input.initial_guess);
  single.rhs = rounded(context, input.rhs);
  return single;
}

}  // namespace heddle::apps
