#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/apps/single_precision.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle::apps {
namespace {

using HostMatrix = HostCsrMatrix<double>;
using HostBlock = MultiVector<double, HostSpace>;
using Refuse = std::function<void(const std::string& message)>;

constexpr std::string_view kAdvice = "use precision: double";

/// The largest number, and the smallest with all its digits.
constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kSmallest = std::numeric_limits<float>::min();
/// Beside an entry of this size, what underflows is less than the rounding of that entry.
constexpr double kLeastScale = kSmallest / std::numeric_limits<float>::epsilon();

/// Refuses numbers, the largest of which has this magnitude.
void check_scale(double largest, std::string_view what, const Refuse& refuse) {
  if (largest > kLargest) {
    refuse(fmt::format("{} has an entry of size {:g}, single precision ends at {:.2g}: {}", what,
                       largest, kLargest, kAdvice));
  }
  if (largest > 0 && largest < kLeastScale) {
    refuse(fmt::format("the largest entry of {} is {:g}, single precision needs {:.2g}: {}", what,
                       largest, kLeastScale, kAdvice));
  }
}

void check_diagonal(CsrView<double, HostSpace> A, std::string_view what, const Refuse& refuse) {
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const double size = std::abs(A.values[k]);
      if (A.columns[k] != i || size == 0 || size >= kSmallest) continue;
      refuse(
          fmt::format("diagonal entry ({0}, {0}) of {1} is {2:g}, single precision needs a size "
                      "of {3:.2g}: {4}",
                      i + 1, what, A.values[k], kSmallest, kAdvice));
    }
  }
}

void check_matrix(const HostMatrix& A, const MatrixSource& source, std::string_view what) {
  const CsrView<double, HostSpace> view = A.view();
  const Refuse refuse_source = [&](const std::string& message) { refuse(source, message); };
  double largest = 0;
  for (Index k = 0; k < view.nnz; ++k) largest = std::max(largest, std::abs(view.values[k]));
  check_scale(largest, what, refuse_source);
  if (view.rows == view.cols) check_diagonal(view, what, refuse_source);
}

void check_block(const HostBlock& X, const std::filesystem::path& path) {
  const Refuse refuse_file = [&](const std::string& message) {
    throw InputError(path.string(), 0, message);
  };
  for (Index j = 0; j < X.cols(); ++j) {
    double largest = 0;
    for (Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X.view()(i, j)));
    check_scale(largest, fmt::format("column {}", j + 1), refuse_file);
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

void check_single_precision(const ProblemInput<double>& input, const Config& config) {
  const ProblemConfig& problem = config.problem;
  check_matrix(input.A, problem.matrix, "the matrix");
  if (input.B) check_matrix(*input.B, *problem.mass, "the mass matrix");
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
