#include <gtest/gtest.h>

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/coupled_rows.hpp>
#include <utility>
#include <vector>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

/// A matrix with these diagonal entries and the entry a_ij = a_ji = c for each (i, j, c).
HostCsrMatrix<double> coupled(HostContext& context, const std::vector<double>& diagonal,
                              const std::vector<Triplet<double>>& couplings) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), diagonal[i]});
  }
  for (const Triplet<double>& each : couplings) {
    entries.push_back(each);
    entries.push_back({each.col, each.row, each.value});
  }
  const auto n = static_cast<Index>(diagonal.size());
  return csr_from_triplets<double>(context, n, n, entries);
}

class CoupledRows : public testing::Test {
 protected:
  using Operator = SparseOperator<double, HostContext>;

  /// The mask after join(A, scratch, mask).
  template <class Join>
  std::vector<double> masked(HostCsrMatrix<double> A, const std::vector<double>& before,
                             const Join& join) {
    const Operator product(context_, std::move(A));
    const auto n = static_cast<Index>(before.size());
    MultiVector<double, HostSpace> scratch(context_, n, 1), mask(context_, n, 1);
    for (Index i = 0; i < n; ++i) mask.view()(i, 0) = before[static_cast<std::size_t>(i)];
    join(product, scratch.view(), mask.view());
    std::vector<double> after;
    for (Index i = 0; i < n; ++i) after.push_back(mask.view()(i, 0));
    return after;
  }

  std::vector<double> joined(HostCsrMatrix<double> A, const std::vector<double>& before) {
    return masked(std::move(A), before, [](const Operator& A, auto scratch, auto mask) {
      detail::join_coupled_rows<double, HostContext>(A, scratch, mask);
    });
  }

  std::vector<double> marked(HostCsrMatrix<double> A, double most) {
    const std::vector<double> none(static_cast<std::size_t>(A.rows()), 0);
    return masked(std::move(A), none, [most](const Operator& A, auto scratch, auto mask) {
      detail::mark_coupled_rows<double, HostContext>(A, most, scratch, mask);
    });
  }

  HostContext context_{1};
};

/// A chain whose rows 1, 3 and 5 happened to look soft: without them it would fall into pieces.
TEST_F(CoupledRows, JoinStiffNeighboursOfTheMask) {
  const std::vector<double> diagonal{1e6, 2e6, 2e6, 2e6, 2e6, 1e6, 3, 3};
  const auto A = [&] {
    return coupled(context_, diagonal,
                   {{0, 1, -1e6},
                    {1, 2, -1e6},
                    {2, 3, -1e6},
                    {3, 4, -1e6},
                    {4, 5, -1e6},
                    {5, 6, -1},
                    {6, 7, -1}});
  };
  EXPECT_EQ(joined(A(), {1, 0.1, 1, 0, 1, 0, 0, 0}),
            (std::vector<double>{1, 1, 1, 1, 1, 1, 0, 0}));  // not row 6, which is weakly coupled
  EXPECT_EQ(joined(A(), {0, 0, 1, 0, 0, 0, 0, 0}),
            (std::vector<double>{0, 1, 1, 1, 0, 0, 0, 0}));  // neighbours alone
  EXPECT_EQ(joined(A(), std::vector<double>(8, 0)), std::vector<double>(8, 0));
}

TEST_F(CoupledRows, PositiveEntriesMarkBothOfTheirRows) {
  const auto A = [&] {
    return coupled(context_, {4, 4, 4, 4}, {{0, 1, 3}, {1, 2, -3}, {2, 3, 0.1}});
  };
  EXPECT_EQ(marked(A(), 1), (std::vector<double>{1, 1, 1, 0}));
  EXPECT_EQ(marked(A(), 0.25), std::vector<double>(4, 0));  // more rows than that are coupled
}

}  // namespace
}  // namespace heddle
