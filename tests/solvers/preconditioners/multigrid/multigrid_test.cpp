#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <limits>
#include <random>
#include <support/decompositions.hpp>

#include "solvers/preconditioners/multigrid/multigrid_battery.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Multigrid = MultigridPreconditioner<double, HostContext>;

Dense dense(CsrView<double, HostSpace> A) {
  Dense D = Dense::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (auto e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) D(i, A.columns[e]) = A.values[e];
  }
  return D;
}

/// The preconditioner as a matrix, from its product with the unit matrix.
Dense as_matrix(HostContext& context, Multigrid& M) {
  const Index n = M.rows();
  Dense unit = Dense::Identity(n, n), made(n, n);
  M.apply(context, ConstBlockView<double, HostSpace>(unit.data(), n, n, n),
          BlockView<double, HostSpace>(made.data(), n, n, n));
  return made;
}

// M⁻¹ is symmetric and positive definite. For a positive definite A of a mesh, the
// eigenvalues of M⁻¹A are in (0, 1 + δ], and the smallest one is not small.
TEST(Multigrid, IsSymmetricPositiveDefinite) {
  HostContext context;
  for (const test::MultigridCase& problem : test::multigrid_battery(context)) {
    for (const int degree : {1, 2, 3, 5}) {
      if (test::kSanitized && degree > 1) break;
      SCOPED_TRACE(problem.name + ", degree " + std::to_string(degree));
      Multigrid M(context, problem.A.view(), {.degree = degree});
      const Dense inverse = as_matrix(context, M);
      const Eigen::VectorXd scale = inverse.diagonal().cwiseSqrt().cwiseInverse();
      const Dense scaled = scale.asDiagonal() * inverse * scale.asDiagonal();
      EXPECT_LT((scaled - scaled.transpose()).norm(), 1e-10);
      EXPECT_GT(test::eigenvalues(Eigen::MatrixXd(scaled)).minCoeff(), 0);
      if (problem.name != "7-point" && problem.name != "27-point") continue;
      const Eigen::MatrixXd root = test::cholesky_factor(inverse);
      const Eigen::MatrixXd similar = root.transpose() * dense(problem.A.view()) * root;
      const Eigen::VectorXd preconditioned = test::eigenvalues(similar);
      EXPECT_LT(preconditioned.maxCoeff(), 1.1);
      EXPECT_GT(preconditioned.minCoeff(), degree == 1 ? 0.3 : 0.5);
    }
  }
}

Index cg_iterations(HostContext& context, const HostCsrMatrix<double>& A,
                    const MultigridOptions& options, double complexity = 1.6) {
  SparseOperator<double, HostContext> op(context, A.view());
  MultigridPreconditioner<float, HostContext> single(context, A.view(), options);
  EXPECT_LE(single.operator_complexity(), complexity);
  EXPECT_GT(std::ssize(single.levels()), 1);
  EXPECT_LE(single.levels().back().rows, 300);
  Multigrid M(context, A.view(), options);
  MultiVector<double, HostSpace> B(context, A.rows(), 2);
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < 2; ++j) B.view()(i, j) = std::sin(static_cast<double>(i * i % 977 + j));
  }
  LinearSystem<double, HostContext> system{&op, &M, B.view()};
  BlockCgOptions cg;
  cg.tolerance = 1e-8;
  const auto result = block_cg(context, system, cg);
  EXPECT_EQ(result.status, SolveStatus::converged);
  return result.iterations;
}

TEST(Multigrid, IterationsDoNotGrowWithTheMesh) {
  HostContext context;
  for (const Index n : {16, 24, 36}) {
    EXPECT_LE(cg_iterations(context, generate<double>(context, {"laplace3d", {n, n, n}}), {}), 11)
        << n;
  }
  EXPECT_LE(cg_iterations(context, generate<double>(context, {"laplace2d", {200, 150}}), {}), 11);
  EXPECT_LE(cg_iterations(context, generate<double>(context, {"stencil27", {20, 20, 20}}), {}), 11);
}

TEST(Multigrid, RigidBodyMotionsSuitElasticity) {
  HostContext context;
  for (const Index n : {6, 11}) {
    const auto A = generate<double>(context, {"elasticity3d", {n, n, n}});
    const auto motions = test::rigid_body_motions(context, {n, n, n});
    const MultigridOptions with{.near_null = motions.view()};
    EXPECT_LE(cg_iterations(context, A, with), 16) << n;
    EXPECT_LT(cg_iterations(context, A, with), cg_iterations(context, A, {})) << n;
  }
}

TEST(Multigrid, StrongJumpsAndWeakDirections) {
  HostContext context;
  const Index n = 100;
  for (const bool jumps : {false, true}) {
    std::vector<Triplet<double>> entries;
    const auto inside = [&](Index x, Index y) { return x > 30 && x < 60 && y > 30 && y < 60; };
    for (Index y = 0; y < n; ++y) {
      for (Index x = 0; x < n; ++x) {
        const Index i = y * n + x;
        double sum = jumps ? 1e-3 : 2e-4;
        for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
          const Index at = x + dx, below = y + dy;
          if (at < 0 || at >= n || below < 0 || below >= n) continue;
          const double weight =
              jumps ? (inside(x, y) && inside(at, below) ? 1e4 : 1) : (dy == 0 ? 1 : .001);
          entries.push_back({i, below * n + at, -weight});
          sum += weight;
        }
        entries.push_back({i, i, sum});
      }
    }
    const auto A = csr_from_triplets<double>(context, n * n, n * n, entries);
    EXPECT_LE(cg_iterations(context, A, {}, 2.2), jumps ? 14 : 16)
        << (jumps ? "jumps" : "anisotropic");
  }
}

/// The coarse matrices of cliques that hardly hold together have small diagonal entries, which
/// amplify rounding. Their Laplacian is semidefinite.
TEST(Multigrid, TakesCliquesThatHardlyHoldTogether) {
  HostContext context;
  for (const double weak : {1e-8, 1e-10}) {
    std::vector<Triplet<double>> entries;
    const auto connect = [&](Index a, Index b, double w) {
      entries.insert(entries.end(), {{a, a, w}, {b, b, w}, {a, b, -w}, {b, a, -w}});
    };
    for (Index clique = 0; clique < 200; ++clique) {
      for (Index i = 0; i < 6; ++i) {
        for (Index j = i + 1; j < 6; ++j) connect(6 * clique + i, 6 * clique + j, 1);
      }
      if (clique > 0) connect(6 * clique, 6 * clique - 1, weak * static_cast<double>(clique));
    }
    const auto A = csr_from_triplets<double>(context, 1200, 1200, entries);
    Multigrid M(context, A.view());
    const Dense inverse = as_matrix(context, M);
    EXPECT_TRUE(inverse.allFinite());
    EXPECT_GT(inverse.diagonal().minCoeff(), 0);
  }
}

/// Blocks Q diag(k, …, k, 0) Qᵀ of random orthogonal Q beside a Laplacian. In single precision some
/// of their zero eigenvalues become negative ones of the size of rounding.
HostCsrMatrix<double> with_stiff_parts(HostContext& context, Index grid, unsigned seed) {
  auto base = generate<double>(context, {"laplace2d", {grid, grid}});
  std::vector<Triplet<double>> entries;
  Index rows = base.rows();
  for (Index i = 0; i < rows; ++i) {
    for (auto e = base.row_offsets()[i]; e < base.row_offsets()[i + 1]; ++e) {
      entries.push_back({i, base.columns()[e], base.values()[e]});
    }
  }
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  for (const Index order : {2, 2, 2, 3, 3, 4, 7, 12, 30, 60}) {
    Eigen::VectorXd soft(order);
    for (double& x : soft) x = normal(engine);
    soft.normalize();
    for (Index i = 0; i < order; ++i) {
      for (Index j = 0; j < order; ++j) {
        entries.push_back({rows + i, rows + j, 1e6 * ((i == j) - soft(i) * soft(j))});
      }
    }
    rows += order;
  }
  return csr_from_triplets<double>(context, rows, rows, entries);
}

/// One level, and several.
TEST(Multigrid, TakesStiffPartsRoundedToSingle) {
  HostContext context;
  for (const Index grid : {12, 40}) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(std::to_string(grid) + ", seed " + std::to_string(seed));
      const auto A = with_stiff_parts(context, grid, seed);
      MultigridPreconditioner<float, HostContext> M(context,
                                                    convert<float>(context, A.view()).view());
      MultiVector<float, HostSpace> X(context, A.rows(), 3), Y(context, A.rows(), 3);
      for (Index i = 0; i < A.rows(); ++i) {
        for (Index j = 0; j < 3; ++j) X.view()(i, j) = std::cos(static_cast<float>(3 * i + j));
      }
      M.apply(context, X.view(), Y.view());
      for (Index j = 0; j < 3; ++j) {
        double energy = 0;
        for (Index i = 0; i < A.rows(); ++i) energy += double{X.view()(i, j)} * Y.view()(i, j);
        EXPECT_GT(energy, 0);
      }
    }
  }
}

/// A hub with legs of two vertices: each leg is an aggregate, and a smoothed prolongator would fill
/// the coarse matrix.
TEST(Multigrid, AHubDoesNotFillTheLevels) {
  HostContext context;
  const Index legs = 3000;
  std::vector<Triplet<double>> entries;
  for (Index leg = 0; leg < legs; ++leg) {
    const Index near = 2 * leg + 1, far = 2 * leg + 2;
    entries.insert(entries.end(), {{0, 0, 1.1}, {near, near, 2.1}, {far, far, 1.1}});
    for (const auto& [a, b] : {std::pair{Index{0}, near}, {near, far}}) {
      entries.insert(entries.end(), {{a, b, -1}, {b, a, -1}});
    }
  }
  const auto A = csr_from_triplets<double>(context, 2 * legs + 1, 2 * legs + 1, entries);
  Multigrid M(context, A.view());
  EXPECT_LE(M.operator_complexity(), 3);
}

TEST(Multigrid, OfNoRows) {
  HostContext context;
  const auto A = csr_from_triplets<double>(context, 0, 0, {});
  Multigrid M(context, A.view());
  MultiVector<double, HostSpace> X(context, 0, 2), Y(context, 0, 2);
  M.apply(context, X.view(), Y.view());
  EXPECT_EQ(M.operator_complexity(), 1);
}

TEST(Multigrid, RefusesWhatItIsNotFor) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {20, 20}});
  const auto message = [&](CsrView<double, HostSpace> matrix, const MultigridOptions& options) {
    try {
      Multigrid(context, matrix, options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(A.view(), {.degree = 6}).find("1 to 5"), std::string::npos);
  EXPECT_NE(message(A.view(), {.unknowns = 3}).find("400 rows"), std::string::npos);
  const MultiVector<double, HostSpace> X(context, 7, 1);
  EXPECT_NE(message(A.view(), {.near_null = X.view()}).find("7"), std::string::npos);
  std::vector<double> d(2000, 1.0);
  d[17] = -1;
  EXPECT_NE(message(test::diagonal(context, d).view(), {}).find("row 18 is -1"), std::string::npos);
  auto indefinite = generate<double>(context, {"laplace2d", {20, 20}});
  shift_diagonal(context, -2, indefinite);
  EXPECT_NE(message(indefinite.view(), {}).find("has an eigenvalue below"), std::string::npos);
  auto slightly = generate<float>(context, {"laplace1d", {20}});
  shift_diagonal(context, -0.023F, slightly);  // its smallest eigenvalue is 0.0223
  EXPECT_THROW((MultigridPreconditioner<float, HostContext>(context, slightly.view())),
               InvalidArgument);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto B = generate<double>(context, {"laplace2d", {50, 40}});
    B.values()[B.row_offsets()[700]] = bad;
    EXPECT_NE(message(B.view(), {}).find("not finite"), std::string::npos);
  }
  const auto rectangular = csr_from_triplets<double>(context, 2, 3, {});
  EXPECT_NE(message(rectangular.view(), {}), "");
}

TEST(Multigrid, IsMadeByName) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {40, 30}});
  const auto made =
      make_preconditioner<double>(context, "multigrid", A.view(), {{"degree", 2}, {"unknowns", 1}});
  Multigrid M(context, A.view(), {.degree = 2, .unknowns = 1});
  MultiVector<double, HostSpace> X(context, 1200, 3), Y(context, 1200, 3), Z(context, 1200, 3);
  for (Index i = 0; i < 1200; ++i) {
    for (Index j = 0; j < 3; ++j) X.view()(i, j) = std::cos(static_cast<double>(3 * i + j));
  }
  made.get()->apply(context, X.view(), Y.view());
  M.apply(context, X.view(), Z.view());
  for (Index i = 0; i < 1200; ++i) {
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(Y.view()(i, j), Z.view()(i, j));
  }
}

}  // namespace
}  // namespace heddle
