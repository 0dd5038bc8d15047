#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>
#include <vector>

#include "support/tolerance.hpp"

namespace heddle::test {

/// y = D x for a diagonal given as a vector; knows no norm, as a user's own operator may not.
template <Scalar T>
class DiagonalOperator final : public Preconditioner<T, HostContext> {
 public:
  explicit DiagonalOperator(std::vector<double> diagonal)
      : Preconditioner<T, HostContext>(static_cast<Index>(diagonal.size()),
                                       static_cast<Index>(diagonal.size())),
        diagonal_(std::move(diagonal)) {}

 protected:
  void apply_block(HostContext&, ConstBlockView<T, HostSpace> X,
                   BlockView<T, HostSpace> Y) override {
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) =
            static_cast<T>(diagonal_[static_cast<std::size_t>(i)] * static_cast<double>(X(i, j)));
      }
    }
  }

 private:
  std::vector<double> diagonal_;
};

/// An operator from a function, for operators that misbehave.
class FunctionOperator final : public Preconditioner<double, HostContext> {
 public:
  using Function =
      std::function<void(ConstBlockView<double, HostSpace>, BlockView<double, HostSpace>)>;
  FunctionOperator(Index n, Function function)
      : Preconditioner<double, HostContext>(n, n), function_(std::move(function)) {}

 protected:
  void apply_block(HostContext&, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    function_(X, Y);
  }

 private:
  Function function_;
};

template <Scalar T>
SparseOperator<T, HostContext> make_operator(HostContext& context, const GallerySpec& spec) {
  return SparseOperator<T, HostContext>(context, generate<T>(context, spec));
}

/// diag(first, first + 1, …, first + n − 1).
inline std::vector<double> counting(Index n, double first = 1) {
  std::vector<double> diagonal(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = first + static_cast<double>(i);
  return diagonal;
}

/// max |VᵀW| over the columns of V and W, in double.
template <Scalar T>
double largest_product(ConstBlockView<T, HostSpace> V, ConstBlockView<T, HostSpace> W) {
  double largest = 0;
  for (Index a = 0; a < V.cols(); ++a) {
    for (Index b = 0; b < W.cols(); ++b) {
      double sum = 0;
      for (Index i = 0; i < V.rows(); ++i) {
        sum += static_cast<double>(V(i, a)) * static_cast<double>(W(i, b));
      }
      largest = std::max(largest, std::abs(sum));
    }
  }
  return largest;
}

/// ‖A x − λ B x‖₂/‖x‖₂ of each pair by a plain product in double, whatever the solver says.
template <Scalar T>
std::vector<double> true_residuals(CsrView<T, HostSpace> A, const CsrView<T, HostSpace>* B,
                                   const std::vector<double>& values,
                                   ConstBlockView<T, HostSpace> V) {
  const auto row_product = [&](const CsrView<T, HostSpace>& M, Index i, Index j) {
    double sum = 0;
    for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
      sum += static_cast<double>(M.values[e]) * static_cast<double>(V(M.columns[e], j));
    }
    return sum;
  };
  std::vector<double> norms;
  for (std::size_t j = 0; j < values.size(); ++j) {
    double residual = 0, norm = 0;
    const auto column = static_cast<Index>(j);
    for (Index i = 0; i < A.rows; ++i) {
      const double v = static_cast<double>(V(i, column));
      const double r = row_product(A, i, column) - values[j] * (B ? row_product(*B, i, column) : v);
      residual += r * r;
      norm += v * v;
    }
    norms.push_back(std::sqrt(residual / norm));
  }
  return norms;
}

/// All that must hold for a converged result: values, residuals by a product of our own, and
/// orthonormal vectors.
template <Scalar T>
void expect_pairs(CsrView<T, HostSpace> A, double norm, const EigenResult<T, HostSpace>& result,
                  const std::vector<double>& expected, double allowed) {
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_EQ(result.eigenvalues.size(), expected.size());
  const auto residuals =
      true_residuals<T>(A, nullptr, result.eigenvalues, result.eigenvectors.view());
  const double rounding = tolerance<T>(norm, static_cast<double>(A.rows));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i], allowed * 2 * norm + rounding) << i;
    EXPECT_LE(residuals[i], allowed * 2 * norm + rounding) << i;
    EXPECT_LE(result.residuals[i], allowed) << i;
  }
  EXPECT_LE(result.orthogonality, tolerance<T>(1, static_cast<double>(expected.size())));
}

}  // namespace heddle::test
