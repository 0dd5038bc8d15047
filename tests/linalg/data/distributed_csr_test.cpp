#include <gtest/gtest.h>

#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <memory>
#include <string>
#include <utility>

namespace heddle {
namespace {

using View = CsrView<double, HostSpace>;
using SharedView = DistributedCsrView<double, HostSpace>;
using Shared = DistributedCsr<double, HostSpace>;

// A function that takes a whole matrix does not compile with one that processes share.
static_assert(std::convertible_to<View, SharedView>);
static_assert(!std::constructible_from<View, SharedView>);
static_assert(std::convertible_to<HostCsrMatrix<double>, Shared>);
static_assert(!std::constructible_from<HostCsrMatrix<double>, Shared>);

HostCsrMatrix<double> diagonal(HostContext& context, Index n) {
  HostCsrMatrix<double> A(context, n, n, n);
  for (Index i = 0; i < n; ++i) {
    A.row_offsets()[i] = i;
    A.columns()[i] = static_cast<std::int32_t>(i);
    A.values()[i] = 2;
  }
  A.row_offsets()[n] = n;
  return A;
}

/// Two of five rows, the second of which has one entry in a column of another process.
Shared two_of_five(HostContext& context) {
  HostCsrMatrix<double> entries(context, 1, 1, 1);
  entries.row_offsets()[0] = 0;
  entries.row_offsets()[1] = 1;
  entries.columns()[0] = 0;
  entries.values()[0] = -1;
  const RowRange rows{1, 2, 5};
  RemoteColumns<double, HostSpace> remote{
      std::move(entries),
      {context, 1},
      std::make_shared<const HaloLists>(HaloLists{rows, rows, {{1, 1}}, {}, {}})};
  remote.rows[0] = 1;
  return {diagonal(context, 2),
          std::make_shared<const RemoteColumns<double, HostSpace>>(std::move(remote))};
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST(DistributedCsr, OfAWholeMatrixIsThatMatrix) {
  HostContext context(1);
  const Shared A = diagonal(context, 3);
  EXPECT_FALSE(A.is_distributed());
  EXPECT_EQ(A.view().whole().values, A.own().view().values);
  EXPECT_EQ(row_range(A.view()), RowRange::all(3));
  EXPECT_EQ(column_range(A.view()), RowRange::all(3));
  EXPECT_EQ(local_entries(A.view()), 3);
  EXPECT_TRUE(is_diagonal(A.view()));
  EXPECT_EQ(norm_1(context, A.view()), 2);
  EXPECT_EQ(refusal([&] { A.view().others(); }),
            "a matrix that processes share is needed, this process holds the whole of this one of "
            "3x3");
}

TEST(DistributedCsr, IsNoWholeMatrixWhereProcessesShareIt) {
  HostContext context(1);
  const Shared A = two_of_five(context);
  EXPECT_TRUE(A.is_distributed());
  EXPECT_EQ(A.rows(), 2);
  EXPECT_EQ(A.cols(), 2);
  EXPECT_EQ(row_range(A.view()).global, 5);
  EXPECT_EQ(local_entries(A.view()), 3);
  EXPECT_FALSE(is_diagonal(A.view()));
  EXPECT_EQ(refusal([&] { A.view().whole(); }),
            "a whole matrix is needed, processes share this one of 5x5: this process has 2 rows "
            "from row 2 on");
}

TEST(DistributedCsr, CopiesKeepTheListsOfTheHalo) {
  HostContext context(1);
  const Shared A = two_of_five(context);
  const DistributedCsr<float, HostSpace> rounded = convert<float>(context, A.view());
  EXPECT_EQ(rounded.remote()->lists, A.remote()->lists);
  EXPECT_EQ(rounded.remote()->entries.view().values[0], -1.0F);
  const Shared full = with_stored_diagonal<double>(context, A.view());
  EXPECT_EQ(full.remote()->lists, A.remote()->lists);
  MultiVector<double, HostSpace> sums(context, 2, 1);
  absolute_row_sums<double>(context, A.view(), sums.view());
  EXPECT_EQ(sums.view()(0, 0), 2);
  EXPECT_EQ(sums.view()(1, 0), 3);
}

}  // namespace
}  // namespace heddle
