#include <gtest/gtest.h>

#include <heddle/solvers/lanczos/constrained_pencil.hpp>

#include "solvers/lanczos/certificate/known_pairs.hpp"

namespace heddle {
namespace {

using test::expect_found;
using test::expect_proven;
using test::first;
using test::grid;
using test::Known;
using test::mass;
using test::Result;
using test::Sparse;

class CertificateUnderConstraints : public testing::TestWithParam<Which> {};

TEST_P(CertificateUnderConstraints, Counts) {
  const Index n = 17 * 18;
  std::srand(7);
  Eigen::MatrixXd Y = Eigen::MatrixXd::Random(n, 4);
  Y.col(3) = Y.col(0) - 2 * Y.col(1);  // depends on the others
  for (const bool pencil : {false, true}) {
    Known known(grid({17, 18}), pencil ? mass(n) : Sparse(), Y);
    ASSERT_EQ(known.values.size(), n - 3);
    for (const Index count : {1, 6}) expect_proven(known.certify(GetParam(), first(count)));
  }
}

TEST_P(CertificateUnderConstraints, FindsMissingPairs) {
  const Index n = 17 * 18;
  std::srand(8);
  Eigen::MatrixXd Y = Eigen::MatrixXd::Random(n, 4);
  Y.col(3) = Y.col(0) - 2 * Y.col(1);  // depends on the others
  for (const bool pencil : {false, true}) {
    Known known(grid({17, 18}), pencil ? mass(n) : Sparse(), Y);
    for (const std::vector<Index>& numbers :
         {std::vector<Index>{1}, {0, 2, 3}, {0, 3, 6, 7, 9, 10}}) {
      const Result result = known.certify(GetParam(), numbers);
      expect_found(known, GetParam(), result, std::ssize(numbers));
      EXPECT_LE(known.violation(result), 1e-10);
    }
  }
}

TEST_P(CertificateUnderConstraints, OfEigenvectors) {
  Known free(grid({17, 18}));
  Eigen::MatrixXd Y(17 * 18, 2);
  Y << free.vectors.col(0), free.vectors.col(17 * 18 - 2);
  Known known(grid({17, 18}), {}, Y);
  expect_proven(known.certify(GetParam(), first(3)));
  expect_found(known, GetParam(), known.certify(GetParam(), {1, 2}), 2);
}

/// Of a double value that constraints leave.
TEST_P(CertificateUnderConstraints, FindsACopy) {
  Known free(grid({18, 18}));
  std::srand(9);
  const Eigen::MatrixXd Y = free.vectors.middleCols(30, 200) * Eigen::MatrixXd::Random(200, 3);
  Known known(grid({18, 18}), {}, Y);
  ASSERT_NEAR(known.value(GetParam(), 1), known.value(GetParam(), 2), 1e-12);
  expect_found(known, GetParam(), known.certify(GetParam(), {0, 1, 3, 4}), 4);
}

INSTANTIATE_TEST_SUITE_P(Ends, CertificateUnderConstraints,
                         testing::Values(Which::smallest, Which::largest));

TEST(CountsUnderConstraints, AreThoseOfADenseSolve) {
  std::srand(11);
  const Index n = 12 * 25;
  Known known(grid({12, 25}), mass(n), Eigen::MatrixXd::Random(n, 5));
  {
    const detail::ConstrainedPencil<double, HostContext> constraints(known.context, known.problem(),
                                                                     known.inverse);
    EXPECT_EQ(constraints.rank(), 5);
    for (const Index j : {0, 1, 10, 100, 250, 294}) {
      const double s = j == 0 ? known.values[0] - 0.1 : (known.values[j - 1] + known.values[j]) / 2;
      ASSERT_TRUE(known.inverse.factor(known.context, s));
      EXPECT_EQ(known.inverse.below(), j);
      EXPECT_FALSE(known.inverse.factor(known.context, known.values[j]));  // G is singular
    }
  }
  // Without constraints, the numbers are those of all vectors again.
  Known free(grid({12, 25}), mass(n));
  ASSERT_TRUE(known.inverse.factor(known.context, 1));
  EXPECT_EQ(known.inverse.below(), (free.values.array() < 1).count());
}

}  // namespace
}  // namespace heddle
