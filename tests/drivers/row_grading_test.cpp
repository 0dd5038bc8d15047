#include <gtest/gtest.h>

#include <cmath>
#include <heddle/drivers/inspect/row_grading.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>

namespace heddle::detail {
namespace {

HostCsrMatrix<double> matrix(HostContext& context, Index n,
                             const std::vector<Triplet<double>>& entries) {
  return csr_from_triplets<double>(context, n, n, entries);
}

TEST(RowGrading, OfAMatrixWithRowsOfOneSizeIsOne) {
  HostContext context(1);
  const auto A = matrix(context, 2, {{0, 0, 2}, {0, 1, -1}, {1, 0, -1}, {1, 1, 2}});
  const RowGrading grading = grading_of(A.view(), {});
  EXPECT_EQ(grading.span, 1);
  EXPECT_EQ(grading.held, 0);
}

TEST(RowGrading, CountsTheRowsThatPenaltiesHold) {
  HostContext context(1);
  // 1e12 holds row 0. Rows 2 and 3 are tied to each other, which holds neither.
  const auto A = matrix(context, 5,
                        {{0, 0, 1e12},
                         {0, 1, -1},
                         {1, 0, -1},
                         {1, 1, 2},
                         {1, 2, -1},
                         {2, 1, -1},
                         {2, 2, 1e9},
                         {2, 3, -1e9},
                         {3, 2, -1e9},
                         {3, 3, 1e9}});
  const RowGrading grading = grading_of(A.view(), {});
  EXPECT_EQ(grading.held, 1);
  EXPECT_DOUBLE_EQ(grading.span, 5e11);
  ASSERT_EQ(grading.exponents.size(), 5u);
  EXPECT_EQ(grading.exponents[4], 0) << "a row of zeros";
  for (const Index i : {0, 1, 2, 3}) {
    const double size = std::ldexp(i == 0   ? 1e12
                                   : i == 1 ? 2
                                            : 1e9,
                                   2 * grading.exponents[static_cast<std::size_t>(i)]);
    EXPECT_GE(size, 0.5);
    EXPECT_LE(size, 2);
  }
}

TEST(RowGrading, TinyMassesCountAsHugeRows) {
  HostContext context(1);
  const auto A = matrix(context, 3, {{0, 0, 2}, {1, 1, 2}, {2, 2, 2}});
  const auto B = matrix(context, 3, {{0, 0, 1}, {1, 1, 1e-14}});
  EXPECT_DOUBLE_EQ(grading_of(A.view(), B.view()).span, 1e14) << "row 2 has no mass";
}

TEST(RowGrading, ScaledEntriesAreAtMostAboutOne) {
  HostContext context(1);
  // Indefinite, with zeros on the diagonal.
  const auto A = matrix(context, 3, {{0, 1, 1e8}, {1, 0, 1e8}, {1, 2, 3}, {2, 1, 3}});
  const RowGrading grading = grading_of(A.view(), {});
  const auto view = A.view();
  for (Index i = 0; i < 3; ++i) {
    for (auto k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(view.columns[k]);
      const int exponent = grading.exponents[static_cast<std::size_t>(i)] + grading.exponents[j];
      EXPECT_LE(std::ldexp(std::abs(view.values[k]), exponent), 2);
    }
  }
}

}  // namespace
}  // namespace heddle::detail
