#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/gallery/hexahedron.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <vector>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using gallery::HexahedronMatrix;

MatrixXd to_dense(const HexahedronMatrix& element) {
  MatrixXd dense(24, 24);
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < 24; ++j) {
      dense(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = element[i][j];
    }
  }
  return dense;
}

/// A displacement field at the nodes of the unit cube.
template <class Field>
VectorXd nodal(const Field& field) {
  VectorXd u(24);
  for (int a = 0; a < 8; ++a) u.segment<3>(3 * a) = field(Vector3d(a & 1, a >> 1 & 1, a >> 2));
  return u;
}

constexpr double kYoung = 1;
constexpr double kPoisson = 0.3;
constexpr double kShearModulus = kYoung / (2 * (1 + kPoisson));

TEST(Hexahedron, StiffnessHasExactlySixRigidModes) {
  const VectorXd values = test::eigenvalues(to_dense(gallery::hexahedron_stiffness(1, kPoisson)));
  const double zero = test::tolerance<double>(values(23), 24);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(values(k), 0, zero);
  EXPECT_GT(values(6), 1e6 * zero);
}

TEST(Hexahedron, TranslationsAndRotationsCostNothing) {
  const MatrixXd K = to_dense(gallery::hexahedron_stiffness(kYoung, kPoisson));
  const double zero = test::tolerance<double>(1, 24);
  for (int d = 0; d < 3; ++d) {
    const Vector3d axis = Vector3d::Unit(d);
    EXPECT_LE((K * nodal([&](Vector3d) { return axis; })).norm(), zero);
    EXPECT_LE((K * nodal([&](Vector3d x) { return axis.cross(x).eval(); })).norm(), zero);
  }
}

// In a state of constant strain the energy uᵀKu is the energy density: λ + 2μ and μ for unit
// strain.
TEST(Hexahedron, ConstantStrainHasItsEnergy) {
  const MatrixXd K = to_dense(gallery::hexahedron_stiffness(kYoung, kPoisson));
  const double lambda = kYoung * kPoisson / ((1 + kPoisson) * (1 - 2 * kPoisson));
  const double error = test::tolerance<double>(1, 24);
  for (int d = 0; d < 3; ++d) {
    const VectorXd stretch = nodal([&](Vector3d x) { return (x(d) * Vector3d::Unit(d)).eval(); });
    EXPECT_NEAR(stretch.dot(K * stretch), lambda + 2 * kShearModulus, error);
    const VectorXd shear =
        nodal([&](Vector3d x) { return (x(d) * Vector3d::Unit((d + 1) % 3)).eval(); });
    EXPECT_NEAR(shear.dot(K * shear), kShearModulus, error);
  }
}

TEST(Hexahedron, MassIntegratesProductsExactly) {
  const MatrixXd M = to_dense(gallery::hexahedron_mass());
  const double error = test::tolerance<double>(1, 24);
  EXPECT_NEAR(M.sum(), 3, error);
  const VectorXd x = nodal([](Vector3d p) { return Vector3d(p(0), 0, 0); });
  const VectorXd xyz = nodal([](Vector3d p) { return Vector3d(p.prod(), 0, 0); });
  EXPECT_NEAR(x.dot(M * x), 1.0 / 3, error);
  EXPECT_NEAR(xyz.dot(M * xyz), 1.0 / 27, error);
}

/// Adds up the element over all cubes of a box, the readable way: all nodes first, then without
/// those at x = 0.
MatrixXd assembled(const HexahedronMatrix& element, Index nx, Index ny, Index nz) {
  const MatrixXd E = to_dense(element);
  const auto node = [&](Index x, Index y, Index z) { return (z * (ny + 1) + y) * (nx + 1) + x; };
  const Index nodes = (nx + 1) * (ny + 1) * (nz + 1);
  MatrixXd all = MatrixXd::Zero(3 * nodes, 3 * nodes);
  for (Index cube = 0; cube < nx * ny * nz; ++cube) {
    std::vector<Index> unknowns;
    for (Index a = 0; a < 8; ++a) {
      const Index at =
          node(cube % nx + (a & 1), cube / nx % ny + (a >> 1 & 1), cube / (nx * ny) + (a >> 2));
      for (Index i = 0; i < 3; ++i) unknowns.push_back(3 * at + i);
    }
    all(unknowns, unknowns) += E;
  }
  std::vector<Index> free;
  for (Index row = 0; row < 3 * nodes; ++row) {
    if (row / 3 % (nx + 1) != 0) free.push_back(row);
  }
  return all(free, free);
}

TEST(Elasticity, IsTheAssembledElement) {
  HostContext context(2);
  for (const std::vector<Index>& size : std::vector<std::vector<Index>>{{3, 2, 2}, {1, 3, 1}}) {
    const auto K = generate<double>(context, {"elasticity3d", size});
    const auto M = generate<double>(context, {"elasticity3d_mass", size});
    const MatrixXd expected_K =
        assembled(gallery::hexahedron_stiffness(kYoung, kPoisson), size[0], size[1], size[2]);
    const MatrixXd expected_M = assembled(gallery::hexahedron_mass(), size[0], size[1], size[2]);
    ASSERT_EQ(K.rows(), expected_K.rows());
    EXPECT_LE((test::to_dense(K.view()) - expected_K).cwiseAbs().maxCoeff(),
              test::tolerance<double>(1, 8));
    EXPECT_LE((test::to_dense(M.view()) - expected_M).cwiseAbs().maxCoeff(),
              test::tolerance<double>(1, 8));
  }
}

TEST(Elasticity, InnerRowsHold81And27Entries) {
  HostContext context(2);
  for (const auto& [name, entries] : std::vector<std::pair<std::string, Index>>{
           {"elasticity3d", 81}, {"elasticity3d_mass", 27}}) {
    const auto A = generate<double>(context, {name, {4, 2, 2}});
    ASSERT_EQ(A.rows(), 3 * 4 * 3 * 3);
    const Index inner = 3 * ((1 * 3 + 1) * 4 + 1);
    EXPECT_EQ(A.view().row_offsets[inner + 1] - A.view().row_offsets[inner], entries);
  }
}

/// The shape functions of the 8-node square [−1, 1]², nodes counter-clockwise from the top right
/// corner (Zienkiewicz & Taylor, The Finite Element Method, 8.5).
std::array<double, 8> serendipity(double x, double y) {
  const auto corner = [&](double a, double b) {
    return (1 + a * x) * (1 + b * y) * (a * x + b * y - 1) / 4;
  };
  const auto on_horizontal = [&](double b) { return (1 - x * x) * (1 + b * y) / 2; };
  const auto on_vertical = [&](double a) { return (1 + a * x) * (1 - y * y) / 2; };
  return {corner(1, 1),   on_horizontal(1),  corner(-1, 1), on_vertical(-1),
          corner(-1, -1), on_horizontal(-1), corner(1, -1), on_vertical(1)};
}

/// The mass of the 8-node square, by 4×4 Gauss points (exact to degree 7).
MatrixXd serendipity_mass() {
  const double near = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(6.0 / 5));
  const double far = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(6.0 / 5));
  const double near_weight = (18 + std::sqrt(30.0)) / 36;
  const double far_weight = (18 - std::sqrt(30.0)) / 36;
  const std::array<std::array<double, 2>, 4> points{
      {{-far, far_weight}, {-near, near_weight}, {near, near_weight}, {far, far_weight}}};
  MatrixXd M = MatrixXd::Zero(8, 8);
  for (const auto& [x, weight_x] : points) {
    for (const auto& [y, weight_y] : points) {
      const std::array<double, 8> values = serendipity(x, y);
      const Eigen::Map<const VectorXd> N(values.data(), 8);
      M += weight_x * weight_y * N * N.transpose();
    }
  }
  return M;
}

/// Higham's numbering of the nodes of square (i, j), all counted from 1.
std::vector<Index> wathen_nodes(Index nx, Index i, Index j) {
  std::vector<Index> nodes(8);
  nodes[0] = 3 * j * nx + 2 * i + 2 * j + 1;
  nodes[1] = nodes[0] - 1;
  nodes[2] = nodes[1] - 1;
  nodes[3] = (3 * j - 1) * nx + 2 * j + i - 1;
  nodes[4] = 3 * (j - 1) * nx + 2 * i + 2 * j - 3;
  nodes[5] = nodes[4] + 1;
  nodes[6] = nodes[5] + 1;
  nodes[7] = nodes[3] + 1;
  for (Index& node : nodes) --node;
  return nodes;
}

TEST(Wathen, IsTheAssembledMassOfSerendipitySquares) {
  HostContext context(2);
  constexpr Index nx = 3;
  constexpr Index ny = 2;
  constexpr std::uint64_t kSeed = 5;
  const auto A = generate<double>(context, {"wathen", {nx, ny}, 0, kSeed});
  ASSERT_EQ(A.rows(), 3 * nx * ny + 2 * nx + 2 * ny + 1);
  MatrixXd expected = MatrixXd::Zero(A.rows(), A.rows());
  for (Index j = 1; j <= ny; ++j) {
    for (Index i = 1; i <= nx; ++i) {
      const PhiloxBlock bits =
          random_block(kSeed, 0, static_cast<std::uint64_t>((j - 1) * nx + i - 1));
      const std::vector<Index> nodes = wathen_nodes(nx, i, j);
      expected(nodes, nodes) +=
          100 * unit_uniform(bits.words[0], bits.words[1]) * serendipity_mass();
    }
  }
  EXPECT_LE((test::to_dense(A.view()) - expected).cwiseAbs().maxCoeff(),
            test::tolerance<double>(100, 16));
}

// Wathen, Realistic eigenvalue bounds for the Galerkin mass matrix, IMA J. Numer. Anal. 7 (1987).
TEST(Wathen, ScaledByItsDiagonalLiesInTheKnownInterval) {
  HostContext context(2);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto matrix = generate<double>(context, {"wathen", {5, 4}, 0, seed});
    const MatrixXd A = test::to_dense(matrix.view());
    const VectorXd scale = A.diagonal().cwiseSqrt().cwiseInverse();
    const VectorXd values = test::eigenvalues(scale.asDiagonal() * A * scale.asDiagonal());
    const double rounding = test::tolerance<double>(4.5, static_cast<double>(A.rows()));
    EXPECT_GE(values.minCoeff(), 0.25 - rounding);
    EXPECT_LE(values.maxCoeff(), 4.5 + rounding);
  }
}

}  // namespace
}  // namespace heddle
