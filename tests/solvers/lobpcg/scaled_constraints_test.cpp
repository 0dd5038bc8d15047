#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/lobpcg/scaled_constraints.hpp>

#include "support/dense.hpp"

namespace heddle::detail {
namespace {

using Eigen::MatrixXd;

/// Vectors V n×c and D⁻¹ over ten orders of magnitude.
struct Case {
  Case(HostContext& context, Index n, Index c)
      : Y(context, n, c), inverse_D(context, n, 1), X(context, n, 2), scratch(context, n, 2) {
    fill_random<double>(context, 3, 0, Y.view());
    fill_random<double>(context, 3, 1, X.view());
    for (Index i = 0; i < n; ++i) {
      inverse_D.view()(i, 0) = std::pow(10, -10 * static_cast<double>(i) / static_cast<double>(n));
    }
  }
  Basis<double, HostSpace> basis() const { return {Y.view(), Y.view()}; }

  MultiVector<double, HostSpace> Y, inverse_D, X, scratch;
};

TEST(ScaledConstraints, ProjectOrthogonallyInD) {
  const Index n = 60;
  HostContext context;
  for (const Index c : {1, 2, 5}) {
    Case given(context, n, c);
    ScaledConstraints<double, HostContext> constraints(context, c, 2);
    constraints.prepare(context, given.basis(), given.inverse_D.view(), given.scratch.view());
    const MatrixXd before = test::to_dense<double>(given.X.view());
    constraints.project(context, given.X.view(), given.scratch.view());
    const MatrixXd after = test::to_dense<double>(given.X.view());
    const MatrixXd Y = test::to_dense<double>(given.Y.view());
    EXPECT_LE((Y.transpose() * after).cwiseAbs().maxCoeff(), 1e-10) << "YᵀBX = 0";
    // D (X − X') lies in the span of BY: a least-squares fit leaves nothing.
    const Eigen::VectorXd D = test::to_dense<double>(given.inverse_D.view()).col(0).cwiseInverse();
    const MatrixXd change = D.asDiagonal() * (before - after);
    const MatrixXd rest = change - Y * test::least_squares_solution(Y, change).solution;
    EXPECT_LE(rest.norm(), 1e-5 * change.norm());
    constraints.project(context, given.X.view(), given.scratch.view());
    EXPECT_LE((test::to_dense<double>(given.X.view()) - after).norm(), 1e-10 * after.norm());
  }
}

TEST(ScaledConstraints, ThatAreNotThereChangeNothing) {
  HostContext context;
  Case given(context, 20, 0);
  ScaledConstraints<double, HostContext> constraints(context, 0, 2);
  constraints.prepare(context, given.basis(), given.inverse_D.view(), given.scratch.view());
  const MatrixXd before = test::to_dense<double>(given.X.view());
  constraints.project(context, given.X.view(), given.scratch.view());
  EXPECT_EQ(test::to_dense<double>(given.X.view()), before);
}

}  // namespace
}  // namespace heddle::detail
