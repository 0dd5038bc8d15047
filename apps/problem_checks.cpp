#include <fmt/format.h>

#include <cmath>
#include <heddle/apps/problem_checks.hpp>
#include <limits>
#include <vector>

namespace heddle::apps {
namespace {

/// Entries that were computed twice, in different orders, differ by some roundings of the largest.
constexpr double kSymmetryTolerance = 1e4 * std::numeric_limits<double>::epsilon();

}  // namespace

void refuse(const MatrixSource& source, const std::string& message) {
  if (source.structure) throw ConfigError(source.origin, source.describe() + ": " + message);
  throw InputError(source.path.string(), 0, message);
}

void check_square(const MatrixSource& source, CsrView<double, HostSpace> A) {
  if (A.rows != A.cols) {
    refuse(source, fmt::format("the matrix is {} x {}, an eigenproblem needs a square one", A.rows,
                               A.cols));
  }
  if (A.rows == 0) refuse(source, "the matrix has no rows");
}

void check_symmetric(HostContext& context, const MatrixSource& source,
                     CsrView<double, HostSpace> A) {
  for (const Asymmetry& pair : find_asymmetry(context, A, kSymmetryTolerance)) {
    refuse(source, fmt::format("the matrix is not symmetric: entry ({0}, {1}) is {2}, entry ({1}, "
                               "{0}) is {3}",
                               pair.row + 1, pair.col + 1, pair.value, pair.transposed));
  }
}

void check_may_be_positive_definite(const MatrixSource& source, CsrView<double, HostSpace> B) {
  std::vector<double> root(static_cast<std::size_t>(B.rows), 0);  // of the diagonal
  const auto for_each_entry = [&B](auto&& visit) {
    for (Index i = 0; i < B.rows; ++i) {
      for (Index k = B.row_offsets[i]; k < B.row_offsets[i + 1]; ++k) {
        visit(static_cast<std::size_t>(i), static_cast<std::size_t>(B.columns[k]), B.values[k]);
      }
    }
  };
  for_each_entry([&](std::size_t i, std::size_t j, double value) {
    if (i != j) return;
    if (value <= 0) {
      refuse(source, fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, "
                                 "{0}) is {1}",
                                 i + 1, value));
    }
    root[i] = std::sqrt(value);
  });
  for (std::size_t i = 0; i < root.size(); ++i) {
    if (root[i] > 0) continue;
    refuse(source,
           fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, {0}) "
                       "is missing",
                       i + 1));
  }
  constexpr double kRounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  for_each_entry([&](std::size_t i, std::size_t j, double value) {
    if (i == j || std::abs(value) / root[i] <= root[j] * kRounding) return;
    refuse(source, fmt::format("the mass matrix is not positive definite: entry ({}, {}) is {}, "
                               "more than its diagonal entries {} and {} allow",
                               i + 1, j + 1, value, root[i] * root[i], root[j] * root[j]));
  });
}

}  // namespace heddle::apps
