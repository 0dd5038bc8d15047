#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/inspect/regular_pencil.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/spmm/spmm.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {
namespace {

/// The largest ‖D^(−1/2) A z‖ and ‖D^(−1/2) s B z‖ that count as rounding errors.
constexpr double kRoundedImage = 1e-13;

/// Added to the diagonal of K, so that its factor exists. Each step of inverse iteration shrinks
/// eigenvectors of K with eigenvalues μ by kShift/μ, and the null space by nothing.
constexpr double kShift = 1e-12;
constexpr int kInverseSteps = 4;

/// Limits of the conjugate gradient steps: their number, and the entries of A and B that they
/// multiply, about ten seconds. A well conditioned pencil takes some dozens of steps.
constexpr double kMostSteps = 1000;
constexpr double kMostEntries = 3e9;

/// The part of a random unit vector in a given direction is hardly ever below this share of 1/√n.
constexpr double kLeastShare = 1e-3;

using Column = MultiVector<double, HostSpace>;
using Stored = CsrView<double, HostSpace>;

/// A, sB and K in the variables y = D^(1/2) x.
class ScaledPencil {
 public:
  ScaledPencil(HostContext& context, const Stored& A, const Stored& B)
      : context_(context),
        A_(A),
        B_(B),
        times_A_(context, A),
        times_B_(context, B),
        factors_(context, A.rows, 1),
        x_(context, A.rows, 1),
        product_(context, A.rows, 1) {
    Column a(context, A.rows, 1), b(context, A.rows, 1);
    absolute_row_sums(context, A, a.view());
    absolute_row_sums(context, B, b.view());
    double logarithms = 0;  // of the ratios a/b
    double rows = 0;
    for (Index i = 0; i < A.rows; ++i) {
      if (!(a.view()(i, 0) > 0 && b.view()(i, 0) > 0)) continue;
      logarithms += std::log(a.view()(i, 0)) - std::log(b.view()(i, 0));
      ++rows;
    }
    // Not a round number, because an eigenvalue −s of the pencil would make A + sB singular.
    scale_ = 1.6180339887 * (rows > 0 ? std::exp(logarithms / rows) : 1);
    for (Index i = 0; i < A.rows; ++i) {
      const double d = a.view()(i, 0) + scale_ * b.view()(i, 0);
      factors_.view()(i, 0) = d > 0 ? 1 / std::sqrt(d) : 1;
    }
  }

  Index rows() const noexcept { return A_.rows; }
  double entries() const noexcept { return static_cast<double>(A_.nnz + B_.nnz); }

  /// A random y of norm about √(n/3), the same for the same order.
  Column random() {
    Column y(context_, rows(), 1);
    fill_random<double>(context_, 0, 0, y.view());
    return y;
  }

  /// w ← K y, or without A, w ← D^(−1/2) s B D^(−1/2) y.
  void apply(const Column& y, Column& w, bool with_A) {
    scale_rows<double>(context_, factors_.view(), y.view(), x_.view());
    if (with_A) times_A_.multiply(context_, 1.0, x_.view(), 0.0, product_.view());
    times_B_.multiply(context_, scale_, x_.view(), with_A ? 1.0 : 0.0, product_.view());
    scale_rows<double>(context_, factors_.view(), product_.view(), w.view());
  }

  /// y ← α x + β y.
  void add(double alpha, const Column& x, double beta, Column& y) {
    axpby<double>(context_, alpha, x.view(), beta, y.view());
  }

  double dot(const Column& x, const Column& y) {
    double value = 0;
    column_dots<double>(context_, x.view(), y.view(), {&value, 1, 1, 1});
    return value;
  }

  double norm(const Column& x) { return std::sqrt(dot(x, x)); }

  /// Whether A and B both map D^(−1/2) y to rounding errors.
  bool maps_to_zero(const Column& y) {
    const double limit = kRoundedImage * norm(y);
    scale_rows<double>(context_, factors_.view(), y.view(), x_.view());
    const auto vanishes = [&](const SpmmPlan<double, HostContext>& plan, double scale) {
      plan.multiply(context_, scale, x_.view(), 0.0, product_.view());
      scale_rows<double>(context_, factors_.view(), product_.view(), product_.view());
      return norm(product_) <= limit;  // false for NaN
    };
    return limit > 0 && vanishes(times_A_, 1) && vanishes(times_B_, scale_);
  }

  /// The row where D^(−1/2) y is largest.
  Index largest_row(const Column& y) const {
    Index row = 0;
    const auto size = [&](Index i) { return std::abs(factors_.view()(i, 0) * y.view()(i, 0)); };
    for (Index i = 1; i < rows(); ++i) {
      if (size(i) > size(row)) row = i;
    }
    return row;
  }

  /// K + kShift·I.
  Eigen::SparseMatrix<double> shifted() const {
    const auto n = static_cast<int>(rows());
    const auto mapped = [n](const Stored& M, const std::vector<int>& offsets) {
      return Eigen::Map<const Eigen::SparseMatrix<double>>(n, n, static_cast<Eigen::Index>(M.nnz),
                                                           offsets.data(), M.columns, M.values);
    };
    const std::vector<int> offsets_A(A_.row_offsets, A_.row_offsets + n + 1);
    const std::vector<int> offsets_B(B_.row_offsets, B_.row_offsets + n + 1);
    const Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<>> factors(
        factors_.view().data(), n, Eigen::InnerStride<>(factors_.view().ld()));
    Eigen::SparseMatrix<double> identity(n, n);
    identity.setIdentity();
    const Eigen::SparseMatrix<double> sum = mapped(A_, offsets_A) + scale_ * mapped(B_, offsets_B);
    const Eigen::SparseMatrix<double> K = factors.asDiagonal() * sum * factors.asDiagonal();
    return K + kShift * identity;
  }

 private:
  HostContext& context_;
  Stored A_, B_;
  SpmmPlan<double, HostContext> times_A_, times_B_;
  Column factors_;  // the diagonal of D^(−1/2)
  Column x_, product_;
  double scale_ = 1;  // s
};

/// Inverse iteration. It finds the eigenvector of K with the eigenvalue nearest to 0.
Column by_inverse_iteration(ScaledPencil& pencil) {
  Column y = pencil.random();
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(pencil.shifted());
  if (factor.info() != Eigen::Success) return y;
  Eigen::VectorXd x(pencil.rows());
  for (Index i = 0; i < pencil.rows(); ++i) x[i] = y.view()(i, 0);
  for (int step = 0; step < kInverseSteps; ++step) x = factor.solve(x).normalized();
  for (Index i = 0; i < pencil.rows(); ++i) y.view()(i, 0) = x[i];
  return y;
}

/// Conjugate gradients for M y = 0 with a random first y, M = K, or its part of B without A. They
/// converge to the part of y in the null space of M if M is positive semidefinite. They end early
/// where nothing is left of y, which returns nothing, where M turns out indefinite, or where the
/// monitor stops them.
std::optional<Column> by_conjugate_gradients(ScaledPencil& pencil, bool with_A,
                                             const Monitor& monitor) {
  Column y = pencil.random();
  Column r = pencil.random(), p = pencil.random(), Kp = pencil.random();
  const double nothing = kLeastShare / std::sqrt(static_cast<double>(pencil.rows()));
  const double least = nothing * pencil.norm(y);
  const double steps = std::min(kMostSteps, kMostEntries / pencil.entries());
  for (int round = 0; round < 2; ++round) {  // the second one removes rounding errors of the first
    pencil.apply(y, r, with_A);
    pencil.add(1, r, 0, p);
    double square = pencil.dot(r, r);
    for (int step = 0; step < steps; ++step) {
      const double size = pencil.norm(y);
      if (!(size > least) || monitor.stops()) return std::nullopt;
      if (std::sqrt(square) <= 0.1 * kRoundedImage * size) break;
      pencil.apply(p, Kp, with_A);
      const double energy = pencil.dot(p, Kp);
      if (!(energy > 0)) return y;
      pencil.add(-square / energy, p, 1, y);
      pencil.add(-square / energy, Kp, 1, r);
      const double next = pencil.dot(r, r);
      pencil.add(1, r, next / square, p);
      square = next;
    }
  }
  return y;
}

/// Whether conjugate gradients show that B has no null vector.
bool is_definite(HostContext& context, const Stored& B, const Monitor& monitor) {
  ScaledPencil masses(context, B, B);
  return !by_conjugate_gradients(masses, false, monitor);
}

}  // namespace

void check_regular(HostContext& context, CsrView<double, HostSpace> A, CsrView<double, HostSpace> B,
                   bool singular_mass, const Monitor& monitor) {
  const bool factors = B.rows <= kFactorizedOrder;
  if (factors && !singular_mass) return;
  monitor.begin_stage("looking for a null vector of both matrices");
  // A mass matrix of finite elements is well conditioned, A + sB is not.
  if (!factors && is_definite(context, B, monitor)) return;
  ScaledPencil pencil(context, A, B);
  const std::optional<Column> y =
      factors ? by_inverse_iteration(pencil) : by_conjugate_gradients(pencil, true, monitor);
  if (!y || !pencil.maps_to_zero(*y)) return;
  throw ProblemError(
      ProblemPart::mass,
      fmt::format("the matrix and the mass matrix have a common null vector, which is largest in "
                  "row {0}: every number is an eigenvalue of such a pencil. Delete row and column "
                  "{0} of both matrices, which keeps the other eigenvalues",
                  pencil.largest_row(*y) + 1));
}

}  // namespace heddle::detail
