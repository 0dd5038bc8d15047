#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"

namespace heddle {
namespace {

template <class T>
class SymmetricPart : public testing::Test {
 protected:
  HostContext context_{2};

  HostCsrMatrix<T> from(Index rows, Index cols, const std::vector<Triplet<T>>& triplets) {
    return csr_from_triplets<T>(context_, rows, cols, triplets);
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SymmetricPart, Scalars);

TYPED_TEST(SymmetricPart, IsTheMeanOfAAndItsTranspose) {
  using T = TypeParam;
  const auto A = test::random_matrix<T>(300, 300, 5);
  const auto S = symmetric_part<T>(this->context_, A.view());
  EXPECT_EQ(test::csr_fault(S.view()), "");
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  const Eigen::MatrixXd found = test::to_dense(S.view());
  EXPECT_EQ(found, found.transpose());
  EXPECT_LE((found - (dense + dense.transpose()) / 2).cwiseAbs().maxCoeff(),
            static_cast<double>(std::numeric_limits<T>::epsilon()) * dense.cwiseAbs().maxCoeff());
  EXPECT_TRUE(equals_transpose(S.view()));
  const auto again = symmetric_part<T>(this->context_, S.view());
  EXPECT_TRUE(test::same_bits(again.view(), S.view()));
}

TYPED_TEST(SymmetricPart, LargeEntriesDoNotOverflow) {
  const TypeParam most = std::numeric_limits<TypeParam>::max();
  const auto A = this->from(2, 2, {{0, 0, most}, {0, 1, most}, {1, 0, most}});
  EXPECT_TRUE(
      test::same_bits(symmetric_part<TypeParam>(this->context_, A.view()).view(), A.view()));
}

TYPED_TEST(SymmetricPart, TheAsymmetryIsRelativeToTheLargestEntry) {
  const auto asymmetry = [this](const HostCsrMatrix<TypeParam>& A) {
    return relative_asymmetry<TypeParam>(this->context_, A.view());
  };
  EXPECT_EQ(asymmetry(this->from(2, 2, {{0, 0, 8}, {0, 1, 1}, {1, 0, 3}})), 0.25);
  EXPECT_EQ(asymmetry(this->from(2, 2, {{0, 0, 1}, {0, 1, -4}})), 1);
  EXPECT_EQ(asymmetry(this->from(2, 2, {{0, 1, 3}, {1, 0, 3}})), 0);
  EXPECT_EQ(asymmetry(this->from(2, 2, {})), 0);
}

TYPED_TEST(SymmetricPart, OfAMatrixThatIsNotSquareIsRefused) {
  const auto A = this->from(2, 3, {{0, 0, 8}});
  EXPECT_THROW(symmetric_part<TypeParam>(this->context_, A.view()), InvalidArgument);
  EXPECT_THROW(relative_asymmetry<TypeParam>(this->context_, A.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
