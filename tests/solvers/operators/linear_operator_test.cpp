#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>

namespace heddle {
namespace {

/// A map that does nothing but say which of its rows and columns are here.
class Part : public LinearOperator<double, HostContext> {
 public:
  Part(Index rows, Index cols) : LinearOperator(rows, cols) {}
  Part(const RowRange& rows, const RowRange& columns) : LinearOperator(rows, columns) {}

 private:
  void apply_block(HostContext&, ConstBlockView<double, HostSpace>,
                   BlockView<double, HostSpace>) override {}
};

TEST(LinearOperator, HoldsAllRowsUnlessToldOtherwise) {
  const Part A(7, 5);
  EXPECT_EQ(A.rows(), 7);
  EXPECT_EQ(A.cols(), 5);
  EXPECT_EQ(A.row_range(), (RowRange{0, 7, 7}));
  EXPECT_EQ(A.column_range(), (RowRange{0, 5, 5}));
}

TEST(LinearOperator, BlocksHaveTheRowsThatAreHere) {
  HostContext context(1);
  Part A({3, 4, 20}, {5, 6, 30});
  EXPECT_EQ(A.rows(), 4);
  EXPECT_EQ(A.cols(), 6);
  EXPECT_EQ(A.row_range().first, 3);
  EXPECT_EQ(A.row_range().global, 20);
  MultiVector<double, HostSpace> X(context, 6, 2);
  MultiVector<double, HostSpace> Y(context, 4, 2);
  A.apply(context, X.view(), Y.view());
  EXPECT_EQ(A.columns_applied(), 2);
  MultiVector<double, HostSpace> whole(context, 30, 2);
  EXPECT_THROW(A.apply(context, whole.view(), Y.view()), InvalidArgument);
}

TEST(LinearOperator, WrappersHoldTheRowsOfWhatTheyWrap) {
  HostContext context(1);
  const RowRange rows{3, 4, 20}, columns{5, 6, 30};
  Part A(rows, columns), A_transposed(columns, rows);
  const NormalEquationsOperator<double, HostContext> F(context, {&A, &A_transposed});
  EXPECT_EQ(F.row_range(), columns);
  EXPECT_EQ(F.column_range(), columns);
}

}  // namespace
}  // namespace heddle
