#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::expect_pairs;
using test::make_operator;

template <Scalar T>
EigenResult<T, HostSpace> solve_inverted(HostContext& context, SparseOperator<T, HostContext>& A,
                                         Index nev, Index block = 0) {
  ShiftedInverse<T, HostContext> inverse(A.matrix());
  BlockLanczosOptions options;
  options.nev = nev;
  options.block_size = block;
  options.filter = LanczosFilter::inverse;
  return block_lanczos<T, HostContext>(context, {.A = &A, .shifted_inverse = &inverse}, options);
}

/// A with its values changed by change(i, j, value).
template <Scalar T, class Change>
SparseOperator<T, HostContext> changed(HostContext& context, const GallerySpec& spec,
                                       const Change& change) {
  HostCsrMatrix<T> A = generate<T>(context, spec);
  const CsrView<T, HostSpace> view = std::as_const(A).view();
  for (Index i = 0; i < view.rows; ++i) {
    for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      A.values()[e] = static_cast<T>(change(i, view.columns[e], view.values[e]));
    }
  }
  return {context, std::move(A)};
}

template <class T>
class BlockLanczosInverseTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockLanczosInverseTyped, Scalars);

TYPED_TEST(BlockLanczosInverseTyped, FindsTheSmallestEndWithFewProducts) {
  HostContext context;
  const std::vector<Index> size = {35, 36};
  auto A = make_operator<TypeParam>(context, {"laplace2d", size});
  for (const Index block : {1, 4, 8}) {
    const auto result = solve_inverted<TypeParam>(context, A, 8, block);
    expect_pairs<TypeParam>(A.matrix(), *A.one_norm(), result,
                            laplace_smallest_eigenvalues(size, 8), kDefaultTolerance<TypeParam>);
    EXPECT_GT(result.inverse_applications, 0);
    EXPECT_LE(result.operator_applications, 300);
  }
}

TEST(BlockLanczosInverse, AnIndefiniteMatrixIsShiftedBelowItsSpectrum) {
  HostContext context;
  const std::vector<Index> size = {30, 31};
  auto A = changed<double>(context, {"laplace2d", size},
                           [](Index i, Index j, double v) { return i == j ? v - 3 : v; });
  std::vector<double> expected = laplace_smallest_eigenvalues(size, 10);
  for (double& value : expected) value -= 3;
  const auto result = solve_inverted<double>(context, A, 10);
  expect_pairs<double>(A.matrix(), *A.one_norm(), result, expected, 1e-8);
  EXPECT_GT(result.inverse_applications, 0);
}

/// A multiple of the identity beside A changes the values, not the work: σ follows them.
TEST(BlockLanczosInverse, SigmaIsRaisedToValuesFarAboveIt) {
  HostContext context;
  const std::vector<Index> size = {50, 51};
  constexpr double kAdded = 50;
  auto A = make_operator<double>(context, {"laplace2d", size});
  auto far = changed<double>(context, {"laplace2d", size},
                             [](Index i, Index j, double v) { return i == j ? v + kAdded : v; });
  const auto near = solve_inverted<double>(context, A, 10);
  const auto result = solve_inverted<double>(context, far, 10);
  std::vector<double> expected = laplace_smallest_eigenvalues(size, 10);
  for (double& value : expected) value += kAdded;
  expect_pairs<double>(far.matrix(), *far.one_norm(), result, expected, 1e-8);
  EXPECT_LE(result.inverse_applications, 4 * near.inverse_applications);
}

TEST(BlockLanczosInverse, ASingularMatrixIsShiftedALittle) {
  HostContext context;
  const std::vector<Index> size = {400};
  const auto path = generate<double>(context, {"laplace1d", size});
  SparseOperator<double, HostContext> A(
      context, graph_laplacian(context, path.view(), {.weights = EdgeWeights::unit}));
  std::vector<double> expected;
  for (int j = 0; j < 6; ++j) {
    expected.push_back(4 * std::pow(std::sin(std::acos(-1.0) * j / 800), 2));
  }
  const auto result = solve_inverted<double>(context, A, 6);
  expect_pairs<double>(A.matrix(), *A.one_norm(), result, expected, 1e-8);
  EXPECT_GT(result.inverse_applications, 0);
}

TEST(BlockLanczosInverse, EigenvaluesOfMultiplicity12AreFoundByABlockOf4) {
  HostContext context;
  for (const double added : {0.0, 50.0}) {
    const auto A = [&] {  // twelve copies of one path, coupled by nothing
      const auto path = generate<double>(context, {"laplace1d", {40}});
      std::vector<Triplet<double>> entries;
      for (Index copy = 0; copy < 12; ++copy) {
        for (Index i = 0; i < 40; ++i) {
          for (std::int64_t e = path.view().row_offsets[i]; e < path.view().row_offsets[i + 1];
               ++e) {
            const Index j = path.view().columns[e];
            const double value = path.view().values[e] + (i == j ? added : 0);
            entries.push_back({40 * copy + i, 40 * copy + j, value});
          }
        }
      }
      return csr_from_triplets<double>(context, 480, 480, entries);
    };
    SparseOperator<double, HostContext> op(context, A());
    const auto single = laplace_smallest_eigenvalues({40}, 2);
    std::vector<double> expected(12, single[0] + added);
    expected.insert(expected.end(), 3, single[1] + added);
    const auto result = solve_inverted<double>(context, op, 15, 4);
    expect_pairs<double>(op.matrix(), *op.one_norm(), result, expected, 1e-8);
  }
}

/// The Laplacian of `pieces` graphs, each a ring of 30 vertices with 15 chords.
HostCsrMatrix<double> disconnected_laplacian(HostContext& context, Index pieces, double shift) {
  std::vector<Triplet<double>> entries;
  const auto edge = [&](Index a, Index b) {
    entries.insert(entries.end(), {{a, a, 1}, {b, b, 1}, {a, b, -1}, {b, a, -1}});
  };
  for (Index first = 0; first < 30 * pieces; first += 30) {
    for (Index i = 0; i < 30; ++i) edge(first + i, first + (i + 1) % 30);
    for (Index i = 0; i < 15; ++i) edge(first + i, first + 15 + (7 * i + first / 30) % 14);
  }
  for (Index i = 0; i < 30 * pieces; ++i) entries.push_back({i, i, shift});
  return csr_from_triplets<double>(context, 30 * pieces, 30 * pieces, entries);
}

TYPED_TEST(BlockLanczosInverseTyped, LaplaciansOfDisconnectedGraphsAreSingularManyTimes) {
  using T = TypeParam;
  HostContext context;
  for (const Index pieces : {12, 40}) {
    for (const double shift : {0.0, 1e-12, 1e-10, 1e-8}) {
      SCOPED_TRACE(testing::Message() << pieces << " pieces, shift " << shift);
      const HostCsrMatrix<double> matrix = disconnected_laplacian(context, pieces, shift);
      const Eigen::MatrixXd dense = test::to_dense(matrix.view());
      std::vector<double> all;
      for (Index piece = 0; piece < pieces; ++piece) {
        const auto values = test::eigenvalues(dense.block(30 * piece, 30 * piece, 30, 30));
        all.insert(all.end(), values.begin(), values.end());
      }
      std::sort(all.begin(), all.end());
      SparseOperator<T, HostContext> A(context, convert<T>(context, matrix.view()));
      for (const Index nev : {pieces / 2, pieces + 3}) {
        const auto result = solve_inverted<T>(context, A, nev);
        expect_pairs<T>(A.matrix(), *A.one_norm(), result, {all.begin(), all.begin() + nev},
                        kDefaultTolerance<T>);
        EXPECT_GT(result.inverse_applications, 0);
      }
    }
  }
}

/// A x = λ (4 I − A/4) x: μ/(4 − μ/4) for the eigenvalues μ of A.
TEST(BlockLanczosInverse, APencilNeedsNoInverseOfB) {
  HostContext context;
  const std::vector<Index> size = {30, 31};
  auto A = make_operator<double>(context, {"laplace2d", size});
  auto B = changed<double>(context, {"laplace2d", size},
                           [](Index i, Index j, double v) { return (i == j ? 4 : 0) - v / 4; });
  ShiftedInverse<double, HostContext> inverse(A.matrix(), B.matrix());
  for (const LanczosFilter filter : {LanczosFilter::automatic, LanczosFilter::inverse}) {
    BlockLanczosOptions options;
    options.nev = 7;
    options.filter = filter;
    const auto result = block_lanczos<double, HostContext>(
        context, {.A = &A, .B = &B, .shifted_inverse = &inverse}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const auto mu = laplace_smallest_eigenvalues(size, 7);
    for (std::size_t i = 0; i < mu.size(); ++i) {
      EXPECT_NEAR(result.eigenvalues[i], mu[i] / (4 - mu[i] / 4), 1e-8 * *A.one_norm());
      EXPECT_LE(result.residuals[i], 1e-8);
    }
    EXPECT_GT(result.inverse_applications, 0);
    EXPECT_LE(result.operator_applications, 100);
  }
}

TEST(BlockLanczosInverse, IsTakenWhereAPolynomialCostsMoreAndNotWhereItDoesNot) {
  HostContext context;
  const auto solve = [&](SparseOperator<double, HostContext>& A, LanczosFilter filter) {
    ShiftedInverse<double, HostContext> inverse(A.matrix());
    BlockLanczosOptions options;
    options.filter = filter;
    return block_lanczos<double, HostContext>(context, {.A = &A, .shifted_inverse = &inverse},
                                              options);
  };
  auto stiff = make_operator<double>(context, {"laplace1d", {3000}});
  EXPECT_GT(solve(stiff, LanczosFilter::automatic).inverse_applications, 0);
  EXPECT_EQ(solve(stiff, LanczosFilter::chebyshev).inverse_applications, 0);
  auto easy = make_operator<double>(context, {"laplace3d", {12, 13, 14}});
  const auto result = solve(easy, LanczosFilter::automatic);
  EXPECT_EQ(result.inverse_applications, 0);
  EXPECT_EQ(result.status, SolveStatus::converged);
}

TEST(BlockLanczosInverse, AFactorThatDoesNotFitIsLeftAloneUnlessItIsAskedFor) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace1d", {3000}});
  ShiftedInverse<double, HostContext> inverse(A.matrix(), {}, 1e4);
  BlockLanczosOptions options;
  options.nev = 2;
  const auto result =
      block_lanczos<double, HostContext>(context, {.A = &A, .shifted_inverse = &inverse}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.inverse_applications, 0);
  options.filter = LanczosFilter::inverse;
  const auto asked = [&] {
    block_lanczos<double, HostContext>(context, {.A = &A, .shifted_inverse = &inverse}, options);
  };
  EXPECT_THROW(asked(), OutOfMemory);
}

}  // namespace
}  // namespace heddle
