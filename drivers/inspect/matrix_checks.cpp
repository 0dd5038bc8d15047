#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <string_view>
#include <vector>

namespace heddle::detail {
namespace {

/// Eigenvalues of D^(−1/2) B D^(−1/2), with the diagonal D of B, that count as 0.
constexpr double kZero = 1e-12;

/// Where no pivot is below this share of its diagonal entry, B has no such eigenvalue. Pivots are
/// larger than the smallest eigenvalue, hence the margin.
constexpr double kSmallPivot = 1e-8;

/// An asymmetry of up to this share of the largest entry may come from printing few digits.
constexpr double kPrinted = 1e-2;

[[noreturn]] void refuse_mass(const std::string& message) {
  throw ProblemError(ProblemPart::mass, message);
}

using EigenMatrix = Eigen::SparseMatrix<double>;
using EigenMap = Eigen::Map<const EigenMatrix>;
using Factor = Eigen::SimplicialLDLT<EigenMatrix>;

/// Names the first small or negative pivot of B = L D Lᵀ. Empty if there is none.
std::string small_pivot(const Factor& factor, const Eigen::VectorXd& diagonal) {
  if (factor.info() != Eigen::Success) return "a zero pivot";
  for (int k = 0; k < diagonal.size(); ++k) {
    const int row = factor.permutationPinv().indices()[k];
    const double pivot = factor.vectorD()[k];
    if (!(pivot > kSmallPivot * diagonal[row])) {
      return fmt::format("the pivot {} in row {}", pivot, row + 1);
    }
  }
  return {};
}

/// The dimension of the null space of a B whose rows with a zero diagonal entry are zero. Throws
/// `ProblemError` if B is indefinite. The inertia of B ∓ τD tells its eigenvalues near 0 from
/// others (Sylvester's law of inertia).
Index null_space_by_factors(CsrView<double, HostSpace> B) {
  const std::vector<int> offsets(B.row_offsets, B.row_offsets + B.rows + 1);
  const auto n = static_cast<int>(B.rows);
  const EigenMap mapped(n, n, static_cast<Eigen::Index>(B.nnz), offsets.data(), B.columns,
                        B.values);
  const Eigen::VectorXd diagonal = EigenMatrix(mapped).diagonal();
  const Eigen::VectorXd unit = (diagonal.array() == 0).cast<double>();  // fills the zero rows
  const auto zero_rows = static_cast<Index>(unit.sum());
  const auto plus_diagonal = [&](const Eigen::VectorXd& added) {
    EigenMatrix D(n, n);
    D.reserve(Eigen::VectorXi::Constant(n, 1));
    for (int i = 0; i < n; ++i) D.insert(i, i) = added[i];
    return EigenMatrix(EigenMatrix(mapped) + D);
  };
  const Eigen::VectorXd filled = diagonal + unit;
  const std::string small = small_pivot(Factor(plus_diagonal(unit)), filled);
  if (small.empty()) return zero_rows;
  const Factor above(plus_diagonal(unit + kZero * diagonal));
  if (above.info() != Eigen::Success || above.vectorD().minCoeff() <= 0) {
    refuse_mass("the mass matrix is not positive definite: its factorisation meets " + small);
  }
  const Factor below(plus_diagonal(unit - kZero * diagonal));
  return zero_rows + static_cast<Index>((below.vectorD().array() < 0).count());
}

}  // namespace

void check_square(ProblemPart part, Index rows, Index cols) {
  if (rows != cols) {
    const std::string_view way_out =
        part == ProblemPart::matrix
            ? "; normal_equations finds its singular values, or least-squares solutions"
            : "";
    throw ProblemError(
        part, fmt::format("the matrix is {} x {}, it must be square{}", rows, cols, way_out));
  }
  if (rows == 0) throw ProblemError(part, "the matrix has no rows");
}

void check_shape(Index rows, Index cols, bool normal_equations) {
  if (!normal_equations) return check_square(ProblemPart::matrix, rows, cols);
  if (rows > 0 && cols > 0) return;
  throw ProblemError(ProblemPart::matrix,
                     fmt::format("the matrix is {} x {}, it has no entries", rows, cols));
}

void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A) {
  for (const Asymmetry& pair : find_asymmetry(context, A.view(), kSymmetryTolerance)) {
    const bool nearly = std::abs(pair.value - pair.transposed) <= kPrinted * A.largest();
    throw ProblemError(
        part, fmt::format("the matrix is not symmetric: entry ({0}, {1}) is {2}, entry ({1}, "
                          "{0}) is {3}{4}",
                          pair.row + 1, pair.col + 1, pair.value, pair.transposed,
                          nearly ? "; symmetrize: average takes (A + A^T)/2" : ""));
  }
}

void check_symmetric(HostContext& context, ProblemPart part, const ComplexMatrix& A) {
  const auto number = [](std::complex<double> z) {
    return fmt::format("{}{:+}i", z.real(), z.imag());
  };
  for (const auto& pair : find_asymmetry(context, A.view(), kSymmetryTolerance)) {
    if (pair.row == pair.col) {
      throw ProblemError(
          part,
          fmt::format("the matrix is not Hermitian: diagonal entry ({0}, {0}) is {1}, not real",
                      pair.row + 1, number(pair.value)));
    }
    const bool symmetric =
        std::abs(pair.value - pair.transposed) <= kSymmetryTolerance * std::abs(pair.value);
    throw ProblemError(
        part, fmt::format("the matrix is not Hermitian: entry ({0}, {1}) is {2}, entry ({1}, {0}) "
                          "is {3}, not its conjugate{4}",
                          pair.row + 1, pair.col + 1, number(pair.value), number(pair.transposed),
                          symmetric ? "; complex symmetric matrices have no real eigenvalues, and "
                                      "no solver here takes them"
                                    : ""));
  }
}

void check_hermitian_mass(CsrView<std::complex<double>, HostSpace> B) {
  std::vector<double> root(static_cast<std::size_t>(B.rows), 0);  // of the diagonal
  for (Index i = 0; i < B.rows; ++i) {
    double diagonal = 0;
    for (Index k = B.row_offsets[i]; k < B.row_offsets[i + 1]; ++k) {
      if (B.columns[k] == i) diagonal = B.values[k].real();
    }
    if (!(diagonal > 0)) {
      refuse_mass(
          fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, {0}) is {1}",
                      i + 1, diagonal));
    }
    root[static_cast<std::size_t>(i)] = std::sqrt(diagonal);
  }
  constexpr double kRounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < B.rows; ++i) {
    const double root_i = root[static_cast<std::size_t>(i)];
    for (Index k = B.row_offsets[i]; k < B.row_offsets[i + 1]; ++k) {
      const double root_j = root[static_cast<std::size_t>(B.columns[k])];
      const double size = std::abs(B.values[k]);
      if (size / root_i <= root_j * kRounding) continue;
      refuse_mass(fmt::format(
          "the mass matrix is not positive definite: entry ({}, {}) has the size {}, more than its "
          "diagonal entries {} and {} allow",
          i + 1, B.columns[k] + 1, size, root_i * root_i, root_j * root_j));
    }
  }
}

Index null_space_of_mass(HostContext& context, CsrView<double, HostSpace> B) {
  if (std::all_of(B.values, B.values + B.nnz, [](double value) { return value == 0; })) {
    refuse_mass("the mass matrix is zero, so no eigenvalue is finite");
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
    if (value < 0) {
      refuse_mass(
          fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, "
                      "{0}) is {1}",
                      i + 1, value));
    }
    root[i] = std::sqrt(value);
  });
  constexpr double kRounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  for_each_entry([&](std::size_t i, std::size_t j, double value) {
    if (i == j || value == 0) return;
    if (root[i] > 0 && std::abs(value) / root[i] <= root[j] * kRounding) return;
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: entry ({}, {}) is {}, "
                    "more than its diagonal entries {} and {} allow",
                    i + 1, j + 1, value, root[i] * root[i], root[j] * root[j]));
  });
  if (B.rows <= kFactorizedOrder) return null_space_by_factors(B);
  const SpectrumBounds bounds = lanczos_bounds<double>(context, B);
  constexpr double kNegative = 100 * std::numeric_limits<double>::epsilon();
  if (bounds.smallest_ritz < -kNegative * bounds.largest_ritz) {
    refuse_mass(fmt::format("the mass matrix is not positive definite: x'Bx = {} for some unit x",
                            bounds.smallest_ritz));
  }
  return std::count(root.begin(), root.end(), 0.0);
}

}  // namespace heddle::detail
