#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::csr_fault;
using test::same_bits;
using test::to_dense;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
class CsrMatrixTest : public testing::Test {
 protected:
  HostContext context_{2};

  HostCsrMatrix<T> from(Index rows, Index cols, const std::vector<Triplet<T>>& triplets) {
    return csr_from_triplets<T>(context_, rows, cols, triplets);
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CsrMatrixTest, Scalars);

/// `count` triplets anywhere in rows×cols; where there are few places, many fall on the same.
template <class T>
std::vector<Triplet<T>> random_triplets(Index rows, Index cols, Index count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<Index> row(0, rows - 1);
  std::uniform_int_distribution<Index> col(0, cols - 1);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<Triplet<T>> triplets;
  for (Index k = 0; k < count; ++k) triplets.push_back({row(engine), col(engine), value(engine)});
  return triplets;
}

TEST(CsrMatrixShape, RefusesWhatCannotBe) {
  HostContext context(1);
  EXPECT_THROW(HostCsrMatrix<double>(context, -1, 1, 0), InvalidArgument);
  EXPECT_THROW(HostCsrMatrix<double>(context, 1, -1, 0), InvalidArgument);
  EXPECT_THROW(HostCsrMatrix<double>(context, 1, 1, -1), InvalidArgument);
  EXPECT_THROW(HostCsrMatrix<double>(context, 1, Index{1} << 31, 0), InvalidArgument);
  EXPECT_THROW(HostCsrMatrix<double>(context, std::numeric_limits<Index>::max(), 1, 0),
               InvalidArgument);
  EXPECT_NO_THROW(HostCsrMatrix<double>(context, 1, (Index{1} << 31) - 1, 0));
}

TYPED_TEST(CsrMatrixTest, TripletsAreSummedInTheirOrder) {
  struct Case {
    Index rows, cols, count;
  };
  // More rows than buckets, fewer; more pieces than one; a few places hit thousands of times.
  for (const Case& c : {Case{1, 1, 5}, Case{3, 4, 50000}, Case{5000, 7, 3000}, Case{40, 60, 900},
                        Case{3000, 3000, 40000}, Case{1, 5000, 20000}, Case{5000, 1, 20000}}) {
    SCOPED_TRACE(std::to_string(c.rows) + "x" + std::to_string(c.cols));
    const auto triplets = random_triplets<TypeParam>(c.rows, c.cols, c.count, 3);
    std::map<std::pair<Index, Index>, TypeParam> expected;
    for (const auto& t : triplets) {
      const auto [place, is_new] = expected.try_emplace({t.row, t.col}, t.value);
      if (!is_new) place->second += t.value;
    }
    const auto A = this->from(c.rows, c.cols, triplets);
    ASSERT_EQ(csr_fault(A.view()), "");
    ASSERT_EQ(A.nnz(), static_cast<Index>(expected.size()));
    auto next = expected.begin();
    for (Index row = 0; row < c.rows; ++row) {
      for (Index k = A.view().row_offsets[row]; k < A.view().row_offsets[row + 1]; ++k, ++next) {
        ASSERT_EQ(next->first, std::make_pair(row, Index{A.view().columns[k]}));
        ASSERT_EQ(next->second, A.view().values[k]);
      }
    }
  }
}

TYPED_TEST(CsrMatrixTest, SameBitsForAnyNumberOfThreads) {
  const auto triplets = random_triplets<TypeParam>(2000, 30, 40000, 5);
  const auto A = this->from(2000, 30, triplets);
  for (const int threads : {1, 3, 8}) {
    HostContext context(threads);
    const auto B = csr_from_triplets<TypeParam>(context, 2000, 30, triplets);
    EXPECT_TRUE(same_bits(A.view(), B.view())) << threads;
    EXPECT_EQ(norm_1(this->context_, A.view()), norm_1(context, B.view())) << threads;
  }
}

TYPED_TEST(CsrMatrixTest, EmptyShapes) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {4, 4}}) {
    const auto A = this->from(rows, cols, {});
    EXPECT_EQ(csr_fault(A.view()), "");
    EXPECT_EQ(A.nnz(), 0);
    const auto transposed = transpose(this->context_, A.view());
    EXPECT_EQ(csr_fault(transposed.view()), "");
    EXPECT_EQ(transposed.rows(), cols);
    EXPECT_EQ(norm_1(this->context_, A.view()), 0);
  }
}

TYPED_TEST(CsrMatrixTest, TripletOutsideIsNamed) {
  for (const Triplet<TypeParam>& bad : std::vector<Triplet<TypeParam>>{
           {-1, 0, 1}, {0, -1, 1}, {2, 0, 1}, {0, 3, 1}, {Index{1} << 40, 0, 1}}) {
    try {
      this->from(2, 3, {{0, 0, 1}, bad, {9, 9, 9}});
      FAIL();
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("triplet 1 at (" + std::to_string(bad.row)), message.npos) << message;
      EXPECT_NE(message.find("2x3"), message.npos) << message;
    }
  }
}

TYPED_TEST(CsrMatrixTest, TransposeAgreesWithDense) {
  for (const auto& A : {test::random_matrix<TypeParam>(1500, 80, 3),
                        test::power_law_matrix<TypeParam>(60, 2000, 900)}) {
    const auto transposed = transpose(this->context_, A.view());
    ASSERT_EQ(csr_fault(transposed.view()), "");
    EXPECT_EQ(to_dense(transposed.view()), to_dense(A.view()).transpose());
    EXPECT_TRUE(same_bits(transpose(this->context_, transposed.view()).view(), A.view()));
  }
}

TYPED_TEST(CsrMatrixTest, ConvertRounds) {
  const auto A = test::random_matrix<TypeParam>(40, 50, 4);
  const auto single = convert<float>(this->context_, A.view());
  EXPECT_EQ(csr_fault(single.view()), "");
  for (Index k = 0; k < single.nnz(); ++k) {
    EXPECT_EQ(single.view().values[k], static_cast<float>(A.values[static_cast<std::size_t>(k)]));
  }
  EXPECT_EQ(to_dense(convert<double>(this->context_, A.view()).view()), to_dense(A.view()));
}

TYPED_TEST(CsrMatrixTest, DiagonalMatricesMayStoreZerosElsewhere) {
  EXPECT_TRUE(is_diagonal(this->from(2, 2, {{0, 0, 1}, {0, 1, 0}, {1, 1, 3}}).view()));
  EXPECT_TRUE(is_diagonal(this->from(3, 3, {}).view()));
  EXPECT_FALSE(is_diagonal(this->from(2, 2, {{0, 0, 1}, {1, 0, 2}}).view()));
}

TYPED_TEST(CsrMatrixTest, SymmetricMatricesHaveNoAsymmetry) {
  const auto A = test::random_matrix<TypeParam>(1500, 1500, 2);
  std::vector<Triplet<TypeParam>> both;
  for (Index row = 0; row < A.rows; ++row) {
    for (Index k = A.view().row_offsets[row]; k < A.view().row_offsets[row + 1]; ++k) {
      const auto i = static_cast<std::size_t>(k);
      both.push_back({row, A.columns[i], A.values[i]});
      both.push_back({A.columns[i], row, A.values[i]});
    }
  }
  const auto S = this->from(1500, 1500, both);
  EXPECT_TRUE(find_asymmetry(this->context_, S.view(), 0).empty());
  EXPECT_TRUE(equals_transpose(S.view()));
}

TYPED_TEST(CsrMatrixTest, AsymmetryOfThePatternIsFoundOnBothSides) {
  for (const bool above : {false, true}) {
    const auto A = this->from(3, 3, {{0, 0, 1}, {2, 2, 1}, {above ? 0 : 2, above ? 2 : 0, 3}});
    const auto found = find_asymmetry(this->context_, A.view(), 0);
    EXPECT_FALSE(equals_transpose(A.view()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].value + found[0].transposed, 3);
  }
}

TYPED_TEST(CsrMatrixTest, AsymmetryIsTheLargestDifference) {
  const auto A = this->from(4, 4, {{0, 0, 100}, {0, 1, 1}, {1, 0, 2}, {3, 1, -6}, {2, 3, 5}});
  const auto found = find_asymmetry(this->context_, A.view(), 0.05);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].row, 3);
  EXPECT_EQ(found[0].col, 1);
  EXPECT_EQ(found[0].value, -6);
  EXPECT_EQ(found[0].transposed, 0);
  EXPECT_TRUE(find_asymmetry(this->context_, A.view(), 0.061).empty());
  EXPECT_THROW(find_asymmetry(this->context_, this->from(2, 3, {}).view(), 0), InvalidArgument);
}

TYPED_TEST(CsrMatrixTest, AsymmetryOfValuesThatAreNotFinite) {
  const auto inf = static_cast<TypeParam>(kInf);
  const auto nan = static_cast<TypeParam>(kNaN);
  const auto asymmetric = [&](TypeParam lower, TypeParam upper) {
    const auto A = this->from(3, 3, {{0, 0, 1}, {1, 0, lower}, {0, 1, upper}, {2, 2, 1000}});
    return !find_asymmetry(this->context_, A.view(), 0.5).empty();
  };
  EXPECT_TRUE(asymmetric(nan, 1));
  EXPECT_TRUE(asymmetric(1, inf));
  EXPECT_TRUE(asymmetric(-inf, inf));
  EXPECT_TRUE(asymmetric(nan, inf));
  EXPECT_FALSE(asymmetric(nan, nan));
  EXPECT_FALSE(asymmetric(inf, inf));
  EXPECT_FALSE(asymmetric(1, 2));
}

}  // namespace
}  // namespace heddle
