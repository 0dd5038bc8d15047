#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using Eigen::MatrixXd;
using test::to_dense;

/// A sparse lower triangle whose row i has up to `length` entries left of the diagonal.
template <class T>
test::TestMatrix<T> lower_triangle(Index n, Index length) {
  std::mt19937 engine(3);
  auto L = test::matrix_with_pattern<T>(n, n, [&](Index i) {
    auto columns = test::random_columns(engine, i, length);
    columns.insert(i);
    return columns;
  });
  for (Index i = 0; i < n; ++i) {  // rows that do not amplify
    const auto begin = static_cast<std::size_t>(L.offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(L.offsets[static_cast<std::size_t>(i) + 1]);
    for (std::size_t e = begin; e + 1 < end; ++e) L.values[e] /= static_cast<T>(length);
    L.values[end - 1] = static_cast<T>(i % 3 + 1);
  }
  return L;
}

template <class T>
class TriangularSolvesTest : public testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(TriangularSolvesTest, Scalars);

TYPED_TEST(TriangularSolvesTest, SolvesWithTheProductOfTheTriangles) {
  using T = TypeParam;
  for (const auto& [n, length] : {std::pair<Index, Index>{1, 1}, {40, 1}, {150, 4}, {60, 60}}) {
    const auto L = lower_triangle<T>(n, length);
    const MatrixXd dense = to_dense(L.view());
    const detail::TriangularSolves<T, HostContext> solves(this->context_, L.view());
    for (const Index cols : {1, 2, 3, 8, 15, 31}) {  // 31: every width of the host's loops
      test::RandomBlock<T> X(n, cols, cols + 1, 1), Y(n, cols, cols + 2, 2);
      const MatrixXd expected =
          test::solve_definite(dense * dense.transpose(), to_dense<T>(X.view()));
      const double rounding = test::tolerance<T>(expected.norm(), static_cast<double>(n));
      solves.solve(this->context_, X.view(), Y.view());
      EXPECT_LE((to_dense<T>(Y.view()) - expected).cwiseAbs().maxCoeff(), rounding) << n;
      solves.solve(this->context_, X.view(), X.view());  // in place
      EXPECT_EQ(to_dense<T>(X.view()), to_dense<T>(Y.view()));
    }
  }
}

TYPED_TEST(TriangularSolvesTest, CountsTheLevelsThatDependOnEachOther) {
  using T = TypeParam;
  const auto levels = [&](const test::TestMatrix<T>& L) {
    return detail::TriangularSolves<T, HostContext>(this->context_, L.view()).levels();
  };
  const Index n = 12;
  const auto with_left = [&](auto left) {
    return test::matrix_with_pattern<T>(n, n, [&](Index i) {
      std::set<Index> columns{i};
      if (left(i) >= 0) columns.insert(left(i));
      return columns;
    });
  };
  EXPECT_EQ(levels(with_left([](Index) { return -1; })), 1);                 // diagonal
  EXPECT_EQ(levels(with_left([](Index i) { return i - 1; })), n);            // a chain
  EXPECT_EQ(levels(with_left([](Index i) { return i == 0 ? -1 : 0; })), 2);  // a star
}

TYPED_TEST(TriangularSolvesTest, AMatrixThatIsNoLowerTriangleIsRefused) {
  using T = TypeParam;
  using Solves = detail::TriangularSolves<T, HostContext>;
  const auto upper = test::matrix_with_pattern<T>(3, 3, [](Index i) {
    return i < 2 ? std::vector<Index>{i, i + 1} : std::vector<Index>{i};
  });
  const auto hole = test::matrix_with_pattern<T>(
      3, 3, [](Index i) { return i == 1 ? std::vector<Index>{0} : std::vector<Index>{i}; });
  EXPECT_THROW(Solves(this->context_, upper.view()), InvalidArgument);
  EXPECT_THROW(Solves(this->context_, hole.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
