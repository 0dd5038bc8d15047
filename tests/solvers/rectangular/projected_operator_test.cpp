#include <gtest/gtest.h>

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/rectangular/projected_operator.hpp>

namespace heddle {
namespace {

/// A map that does nothing but say which of its rows and columns are here.
class Part : public LinearOperator<double, HostContext> {
 public:
  Part(const RowRange& rows, const RowRange& columns) : LinearOperator(rows, columns) {}

 private:
  void apply_block(HostContext&, ConstBlockView<double, HostSpace>,
                   BlockView<double, HostSpace>) override {}
};

TEST(ProjectedOperator, HasTheRangesOfTheOperatorThatItProjects) {
  HostContext context(1);
  const RowRange rows{3, 4, 11};
  const RowRange columns{2, 3, 6};
  Part A(rows, columns);
  const MultiVector<double, HostSpace> Q(context, 4, 2);
  const detail::ProjectedOperator<double, HostContext> P(A, Q.view());
  EXPECT_EQ(P.row_range(), rows);
  EXPECT_EQ(P.column_range(), columns);
}

}  // namespace
}  // namespace heddle
