#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/column_major.hpp>

#include "spmm/plan/column_major_case.hpp"

namespace heddle {
namespace {

template <class T>
class ColumnMajor : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnMajor, Scalars);

TYPED_TEST(ColumnMajor, AgreesWithTheReference) {
  using T = TypeParam;
  HostContext context;
  for (const test::TestMatrix<T>& A :
       {test::random_matrix<T>(70, 45, 6), test::power_law_matrix<T>(120, 200, 60)}) {
    const SpmmPlan<T, HostContext> plan(context, A.view());
    ColumnMajorProduct<T, HostContext> product(plan, A.rows, A.cols);
    test::for_column_major_cases<T>(A, [&](test::ColumnMajorCase<T> blocks) {
      product.multiply(context, blocks.alpha, {blocks.Bt.data(), blocks.N, A.cols, blocks.ldb},
                       blocks.beta, {blocks.Ct.data(), blocks.N, A.rows, blocks.ldc});
      blocks.expect(blocks.Ct);
    });
  }
}

TYPED_TEST(ColumnMajor, RefusesBlocksThatDoNotFit) {
  using T = TypeParam;
  HostContext context;
  const test::TestMatrix<T> A = test::random_matrix<T>(7, 5, 2);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  ColumnMajorProduct<T, HostContext> product(plan, A.rows, A.cols);
  std::vector<T> memory(100);
  const auto multiply = [&](Index b_rows, Index b_columns, Index c_rows, Index c_columns) {
    product.multiply(context, T{1}, {memory.data(), b_columns, b_rows, b_rows}, T{0},
                     {memory.data() + 50, c_columns, c_rows, c_rows});
  };
  EXPECT_NO_THROW(multiply(5, 3, 7, 3));
  EXPECT_THROW(multiply(7, 3, 7, 3), InvalidArgument);
  EXPECT_THROW(multiply(5, 3, 5, 3), InvalidArgument);
  EXPECT_THROW(multiply(5, 2, 7, 3), InvalidArgument);
}

}  // namespace
}  // namespace heddle
