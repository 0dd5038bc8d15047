#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <support/decompositions.hpp>

namespace heddle {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A stiffness matrix maps the motions to zero in all rows without a clamped neighbour.
TEST(RigidBodyMotions, HaveNoStrain) {
  HostContext context;
  const GallerySpec spec{"elasticity3d", {4, 3, 5}};
  const auto A = generate<double>(context, spec);
  const auto X = node_coordinates(context, spec);
  ASSERT_EQ(3 * X.rows(), A.rows());
  const auto motions = rigid_body_motions(context, X.view(), 3);
  ASSERT_EQ(motions.cols(), 6);
  const CsrView<double, HostSpace> view = A.view();
  for (Index i = 0; i < A.rows(); ++i) {
    const bool near_clamp = X.view()(i / 3, 0) < 1.5;
    double worst = 0;
    for (Index j = 0; j < 6; ++j) {
      double sum = 0;
      for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
        sum += view.values[e] * motions.view()(view.columns[e], j);
      }
      worst = std::max(worst, std::abs(sum));
    }
    if (near_clamp) {
      EXPECT_GT(worst, 1e-3) << i;
    } else {
      EXPECT_LT(worst, 1e-14) << i;
    }
  }
}

/// All distances stay, to first order: (u_i − u_j)·(x_i − x_j) = 0. The motions are independent.
TEST(RigidBodyMotions, KeepDistancesInThePlaneAndInSpaceWithAndWithoutAngles) {
  HostContext context;
  for (const auto& [d, unknowns] : {std::pair<Index, Index>{2, 2}, {2, 3}, {3, 3}, {3, 6}}) {
    SCOPED_TRACE(std::to_string(d) + " coordinates, " + std::to_string(unknowns) + " unknowns");
    const Index nodes = 7;
    MultiVector<double, HostSpace> X(context, nodes, d);
    for (Index i = 0; i < nodes; ++i) {
      for (Index k = 0; k < d; ++k) {
        X.view()(i, k) = 1e6 + 1e3 * std::sin(static_cast<double>(1 + 3 * i + 5 * k * k));
      }
    }
    const auto made = rigid_body_motions(context, X.view(), unknowns);
    const Index angles = d == 2 ? 1 : 3;
    ASSERT_EQ(made.rows(), nodes * unknowns);
    ASSERT_EQ(made.cols(), d + angles);
    Dense all(made.rows(), made.cols());
    for (Index i = 0; i < all.rows(); ++i) {
      for (Index j = 0; j < all.cols(); ++j) all(i, j) = made.view()(i, j);
    }
    EXPECT_EQ(test::rank(all, 1e-6), d + angles);
    for (Index motion = 0; motion < d + angles; ++motion) {
      for (Index i = 0; i < nodes; ++i) {
        for (Index j = 0; j < i; ++j) {
          double stretch = 0;
          for (Index k = 0; k < d; ++k) {
            stretch += (all(i * unknowns + k, motion) - all(j * unknowns + k, motion)) *
                       (X.view()(i, k) - X.view()(j, k)) / 1e3;
          }
          EXPECT_NEAR(stretch, 0, 1e-9);
        }
        for (Index k = d; k < unknowns; ++k) {  // the angle turns with its rotation alone
          EXPECT_EQ(all(i * unknowns + k, motion), k == motion ? 1 : 0);
        }
      }
    }
  }
}

TEST(RigidBodyMotions, RefuseOtherNumbers) {
  HostContext context;
  const MultiVector<double, HostSpace> plane(context, 4, 2), space(context, 4, 3),
      line(context, 4, 1);
  EXPECT_THROW(rigid_body_motions(context, plane.view(), 4), InvalidArgument);
  EXPECT_THROW(rigid_body_motions(context, space.view(), 2), InvalidArgument);
  EXPECT_THROW(rigid_body_motions(context, line.view(), 1), InvalidArgument);
  EXPECT_EQ(node_coordinates(context, {"laplace3d", {3, 3, 3}}).rows(), 0);
}

}  // namespace
}  // namespace heddle
