#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/certificate/certificate.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/dense.hpp"

/// Problems with known pairs, and results of solves that have missed some of them.
namespace heddle::test {

using Sparse = HostCsrMatrix<double>;
using Result = EigenResult<double, HostSpace>;

/// A problem with all pairs by a dense solve, of which a test makes results.
class Known {
 public:
  explicit Known(Sparse a, Sparse b = {}, const Eigen::MatrixXd& Y = {})
      : A_(std::move(a)), B_(std::move(b)), A(context, A_.view()), inverse(A_.view(), B_.view()) {
    if (B_.rows() > 0) B.emplace(context, B_.view());
    const Index n = A_.rows();
    const Eigen::MatrixXd mass =
        B_.rows() > 0 ? Eigen::MatrixXd(to_dense(B_.view())) : Eigen::MatrixXd::Identity(n, n);
    if (Y.cols() == 0) {
      const DenseEigenpairs all = eigenpairs(to_dense(A_.view()), mass);
      values = all.values;
      vectors = all.vectors;
      return;
    }
    Y_ = to_block<double>(context, Y);
    // An orthonormal basis of the vectors with YᵀBx = 0.
    const Eigen::MatrixXd C = mass * Y;
    const DenseEigenpairs split = eigenpairs(Eigen::MatrixXd(C * C.transpose()));
    const double most = split.values[n - 1];
    const Index free = (split.values.array() < 1e-10 * most).count();
    const Eigen::MatrixXd basis = split.vectors.leftCols(free);
    const DenseEigenpairs all =
        eigenpairs(Eigen::MatrixXd(basis.transpose() * to_dense(A_.view()) * basis),
                   Eigen::MatrixXd(basis.transpose() * mass * basis));
    values = all.values;
    vectors = basis * all.vectors;
  }

  EigenProblem<double, HostContext> problem() {
    EigenProblem<double, HostContext> made;
    made.A = &A;
    made.B = B ? &*B : nullptr;
    made.constraints = std::as_const(Y_).view();
    return made;
  }

  CsrView<double, HostSpace> stored() const { return A_.view(); }

  /// The place of value number j, counted from the end.
  Index place(Which which, Index j) const {
    return which == Which::smallest ? j : values.size() - 1 - j;
  }
  double value(Which which, Index j) const { return values[place(which, j)]; }

  /// What a solver returns that finds the pairs of these numbers, in ascending order.
  Result found(Which which, const std::vector<Index>& numbers) {
    Result result;
    result.status = SolveStatus::converged;
    result.reason = "all pairs converged";
    result.completeness = {CompletenessMethod::random_search};
    result.eigenvectors = MultiVector<double, HostSpace>(context, A_.rows(), std::ssize(numbers));
    for (const Index number : numbers) {
      const Index from = place(which, number);
      const auto to = std::ssize(result.eigenvalues);
      result.eigenvalues.push_back(values[from]);
      for (Index i = 0; i < A_.rows(); ++i) result.eigenvectors.view()(i, to) = vectors(i, from);
    }
    const std::size_t count = numbers.size();
    result.residuals.assign(count, 1e-16);
    result.error_bounds.assign(count, 1e-13 * values.cwiseAbs().maxCoeff());
    result.limited_by_rounding.assign(count, false);
    result.converged.assign(count, true);
    return result;
  }

  Result certify(Which which, const std::vector<Index>& numbers, CertifyOptions options = {},
                 const Monitor& monitor = {}) {
    options.which = which;
    options.nev = std::ssize(numbers);
    return certified<double, HostContext>(context, problem(), inverse, options,
                                          found(which, numbers), monitor);
  }

  /// max |YᵀBx| of unit vectors.
  double violation(const Result& result) const {
    Eigen::MatrixXd C = to_dense<double>(Y_.view());
    if (B_.rows() > 0) C = to_dense(B_.view()) * C;
    const Eigen::MatrixXd X = to_dense<double>(std::as_const(result.eigenvectors).view());
    return (C.colwise().normalized().transpose() * X.colwise().normalized()).cwiseAbs().maxCoeff();
  }

  HostContext context;

 private:
  Sparse A_, B_;
  MultiVector<double, HostSpace> Y_;

 public:
  SparseOperator<double, HostContext> A;
  std::optional<SparseOperator<double, HostContext>> B;
  IndefiniteInverse<double, HostContext> inverse;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

inline HostContext& host() {
  static HostContext context;
  return context;
}

/// The Laplacian of a grid, which has pairs of equal eigenvalues if it is a square.
inline Sparse grid(std::vector<Index> size) {
  const std::string kind = "laplace" + std::to_string(size.size()) + "d";
  return generate<double>(host(), {kind, std::move(size)});
}

inline Sparse diagonal(const std::vector<double>& values) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < values.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  }
  const auto n = static_cast<Index>(values.size());
  return csr_from_triplets<double>(host(), n, n, entries);
}

/// diag(1.5, 1, 0.5, 1, 1.5, …), with couplings of some neighbours.
inline Sparse mass(Index n) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 0.5 + 0.5 * static_cast<double>(i % 3)});
  for (Index i = 0; i + 1 < n; i += 2) {
    entries.push_back({i, i + 1, 0.1});
    entries.push_back({i + 1, i, 0.1});
  }
  return csr_from_triplets<double>(host(), n, n, entries);
}

inline std::vector<Index> first(Index count) {
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return numbers;
}

inline void expect_proven(const Result& result) {
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.completeness.method, CompletenessMethod::inertia) << result.reason;
  EXPECT_TRUE(result.completeness.proven) << result.reason;
}

/// The wanted pairs of `known`, computed with an inverse.
inline void expect_found(Known& known, Which which, const Result& result, Index count) {
  expect_proven(result);
  EXPECT_NE(result.reason.find("had missed"), std::string::npos) << result.reason;
  ASSERT_EQ(std::ssize(result.eigenvalues), count);
  ASSERT_EQ(result.eigenvectors.cols(), count);
  const double rounding = 1e-12 * known.values.cwiseAbs().maxCoeff();
  for (Index j = 0; j < count; ++j) {
    const auto k = static_cast<std::size_t>(j);
    EXPECT_NEAR(result.eigenvalues[k], known.value(which, j), rounding) << j;
    EXPECT_LE(std::abs(result.eigenvalues[k] - known.value(which, j)),
              result.error_bounds[k] + 0.1 * rounding);
    EXPECT_TRUE(result.converged[k]);
    // The Rayleigh quotient of the vector is the value.
    MultiVector<double, HostSpace> product(known.context, known.A.rows(), 1);
    const auto x = result.eigenvectors.columns(j, 1);
    known.A.apply(known.context, x, product.view());
    double energy = 0;
    for (Index i = 0; i < x.rows(); ++i) energy += x(i, 0) * product.view()(i, 0);
    EXPECT_NEAR(energy, known.value(which, j), rounding);
  }
}

}  // namespace heddle::test
