#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <heddle/drivers/matrix_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

/// Up to this order, a mass matrix is factorised to determine whether it is positive definite.
/// Above it, the fill may cost more than the solve, and the test consists of some Lanczos steps.
constexpr Index kFactorizedOrder = 20000;

[[noreturn]] void refuse_mass(const std::string& message) {
  throw ProblemError(ProblemPart::mass, message);
}

/// Throws `ProblemError` if the factorisation B = L D Lᵀ has a pivot that is not positive.
void check_pivots(CsrView<double, HostSpace> B) {
  const std::vector<int> offsets(B.row_offsets, B.row_offsets + B.rows + 1);
  const auto n = static_cast<int>(B.rows);
  const Eigen::Map<const Eigen::SparseMatrix<double>> mapped(n, n, static_cast<Eigen::Index>(B.nnz),
                                                             offsets.data(), B.columns, B.values);
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(mapped);
  const Eigen::VectorXd diagonal = Eigen::SparseMatrix<double>(mapped).diagonal();
  const auto indefinite = [&](int row, double pivot) {
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: its factorisation meets "
                    "the pivot {} in row {}",
                    pivot, row + 1));
  };
  if (factor.info() != Eigen::Success) {
    refuse_mass("the mass matrix is not positive definite: its factorisation meets a zero pivot");
  }
  constexpr double kSingular = 16 * std::numeric_limits<double>::epsilon();
  for (int k = 0; k < n; ++k) {
    const int row = factor.permutationPinv().indices()[k];
    const double pivot = factor.vectorD()[k];
    if (!(pivot > kSingular * diagonal[row])) indefinite(row, pivot);
  }
}

}  // namespace

void check_square(ProblemPart part, const Matrix& A) {
  if (A.rows() != A.cols()) {
    throw ProblemError(part,
                       fmt::format("the matrix is {} x {}, it must be square", A.rows(), A.cols()));
  }
  if (A.rows() == 0) throw ProblemError(part, "the matrix has no rows");
}

void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A) {
  for (const Asymmetry& pair : find_asymmetry(context, A.view(), kSymmetryTolerance)) {
    throw ProblemError(
        part, fmt::format("the matrix is not symmetric: entry ({0}, {1}) is {2}, entry ({1}, "
                          "{0}) is {3}",
                          pair.row + 1, pair.col + 1, pair.value, pair.transposed));
  }
}

void check_may_be_positive_definite(HostContext& context, CsrView<double, HostSpace> B) {
  if (std::all_of(B.values, B.values + B.nnz, [](double value) { return value == 0; })) {
    refuse_mass("the mass matrix is zero, it must be positive definite");
  }
  std::vector<double> root(static_cast<std::size_t>(B.rows), 0);  // square roots of the diagonal
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
      refuse_mass(
          fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, "
                      "{0}) is {1}",
                      i + 1, value));
    }
    root[i] = std::sqrt(value);
  });
  for (std::size_t i = 0; i < root.size(); ++i) {
    if (root[i] > 0) continue;
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, {0}) "
                    "is missing",
                    i + 1));
  }
  constexpr double kRounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  for_each_entry([&](std::size_t i, std::size_t j, double value) {
    if (i == j || std::abs(value) / root[i] <= root[j] * kRounding) return;
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: entry ({}, {}) is {}, "
                    "more than its diagonal entries {} and {} allow",
                    i + 1, j + 1, value, root[i] * root[i], root[j] * root[j]));
  });
  if (B.rows <= kFactorizedOrder) return check_pivots(B);
  const double ritz = detail::lanczos_bounds(context, B).smallest_ritz;
  if (ritz < 0) {
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: x'Bx = {} for some unit x", ritz));
  }
}

}  // namespace heddle::detail
