#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/spgemm/distributed.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>
#include <support/processes.hpp>
#include <support/random_block.hpp>
#include <vector>

#include "multigrid_battery.hpp"

namespace heddle {
namespace {

using test::processes;
using Preconditioner = MultigridPreconditioner<double, HostContext>;

/// Ranges in which process 1 has no rows, and which end between nodes of `node` rows.
RowRanges with_an_empty_one(Index n, Index node) {
  const Index parts = processes()->size() - 1;
  RowRanges ranges{{0}};
  for (Index k = 1; k <= parts; ++k) {
    ranges.begins.push_back(n / node * k / parts * node);
    if (k == 1) ranges.begins.push_back(ranges.begins.back());
  }
  return ranges;
}

class DistributedMultigrid : public test::OnProcesses {
 protected:
  RowRanges balanced(const HostCsrMatrix<double>& A, Index node = 1) const {
    return balanced_rows(A.view(), processes()->size(), 1, node);
  }

  DistributedCsr<double, HostSpace> shared(const HostCsrMatrix<double>& A,
                                           const RowRanges& ranges) {
    return scatter<double>(together_, A.view(), ranges, ranges);
  }

  /// M as a dense n×n matrix, on all processes.
  MultiVector<double, HostSpace> dense(Preconditioner& M, const RowRanges& ranges) {
    const RowRange own = ranges.of(processes()->rank());
    MultiVector<double, HostSpace> unit(together_, own.local, own.global),
        columns(together_, own.local, own.global);
    set_zero(together_, unit.view());
    for (Index i = 0; i < own.local; ++i) unit.view()(i, own.first + i) = 1;
    M.apply(together_, unit.view(), columns.view());
    return all_rows(together_, std::as_const(columns).view());
  }

  /// The eigenvalues of a symmetric M.
  std::vector<double> spectrum(const MultiVector<double, HostSpace>& M) {
    const Index n = M.rows();
    std::vector<double> H(static_cast<std::size_t>(n * n)), Z(H.size());
    std::vector<double> theta(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        H[static_cast<std::size_t>(j * n + i)] = (M.view()(i, j) + M.view()(j, i)) / 2;
      }
    }
    DenseEigensolver solver(n);
    EXPECT_EQ(solver.solve({H.data(), n, n, n}, {theta.data(), n, 1, n}, {Z.data(), n, n, n}),
              DenseFailure::none);
    return theta;
  }

  void expect_symmetric_positive_definite(const std::string& name, const HostCsrMatrix<double>& A,
                                          const RowRanges& ranges) {
    SCOPED_TRACE(name);
    const DistributedCsr<double, HostSpace> part = shared(A, ranges);
    Preconditioner M(together_, part.view());
    EXPECT_EQ(M.row_range(), ranges.of(processes()->rank()));
    const MultiVector<double, HostSpace> found = dense(M, ranges);
    double largest = 0, difference = 0;
    for (Index i = 0; i < found.rows(); ++i) {
      for (Index j = 0; j < found.rows(); ++j) {
        largest = std::max(largest, std::abs(found.view()(i, j)));
        difference = std::max(difference, std::abs(found.view()(i, j) - found.view()(j, i)));
        EXPECT_TRUE(std::isfinite(found.view()(i, j)));
      }
    }
    EXPECT_LE(difference, 1e-11 * largest);
    EXPECT_GT(spectrum(found).front(), 0);
  }
};

TEST_F(DistributedMultigrid, IsSymmetricPositiveDefinite) {
  for (const test::MultigridCase& problem : test::multigrid_battery(alone_)) {
    const Index node = problem.name == "elasticity" ? 3 : 1;
    if (problem.A.rows() / node >= processes()->size()) {
      expect_symmetric_positive_definite(problem.name, problem.A, balanced(problem.A, node));
    }
    expect_symmetric_positive_definite(problem.name, problem.A,
                                       with_an_empty_one(problem.A.rows(), node));
  }
}

/// Few rows are gathered, and the coarsest level has the inverse.
TEST_F(DistributedMultigrid, OfAFewRowsIsTheInverse) {
  const HostCsrMatrix<double> A = generate<double>(alone_, {"laplace2d", {12, 11}});
  const RowRanges ranges = balanced(A);
  const DistributedCsr<double, HostSpace> part = shared(A, ranges);
  Preconditioner M(together_, part.view());
  const MultiVector<double, HostSpace> inverse = dense(M, ranges);
  test::RandomBlock<double> product(A.rows(), A.rows(), A.rows(), 1);
  SparseOperator<double, HostContext> of_A(alone_, A.view());
  of_A.apply(alone_, inverse.view(), product.view());
  double error = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.rows(); ++j) {
      error = std::max(error, std::abs(product.view()(i, j) - (i == j ? 1 : 0)));
    }
  }
  EXPECT_LE(error, 1e-11);
}

/// Levels that are distributed, then gathered, and rows without any order.
TEST_F(DistributedMultigrid, IsAsGoodAsThatOfOneProcess) {
  struct Case {
    GallerySpec spec;
    Index unknowns;
    std::size_t distributed;  ///< levels that processes share
  };
  for (const Case& problem :
       {Case{{"laplace3d", {37, 36, 35}}, 1, 2}, Case{{"laplace2d", {100, 110}}, 1, 1},
        Case{{"elasticity3d", {11, 10, 9}}, 3, 1}}) {
    SCOPED_TRACE(problem.spec.name);
    const HostCsrMatrix<double> A = generate<double>(alone_, problem.spec);
    const RowRanges ranges = balanced(A, problem.unknowns);
    const DistributedCsr<double, HostSpace> part = shared(A, ranges);
    Preconditioner M(together_, part.view()), M_alone(alone_, A.view());
    ASSERT_GT(M.levels().size(), problem.distributed);
    EXPECT_EQ(M.levels()[0].rows, A.rows());
    EXPECT_EQ(M.levels()[0].nnz, A.nnz());
    EXPECT_GT(M.levels()[problem.distributed - 1].rows, 4000 * (problem.distributed > 1));
    EXPECT_NEAR(M.operator_complexity(), M_alone.operator_complexity(), .15);
    SparseOperator<double, HostContext> of_A(together_, part.view()), alone_A(alone_, A.view());
    const double condition =
        detail::condition_estimate<double, HostContext>(together_, of_A, &M, 8).whole;
    const double exact =
        detail::condition_estimate<double, HostContext>(alone_, alone_A, &M_alone, 8).whole;
    EXPECT_LE(std::sqrt(condition), 1.2 * std::sqrt(exact));  // iterations grow with the root
    EXPECT_TRUE(processes()->same(std::bit_cast<std::uint64_t>(condition)));

    Preconditioner again(together_, part.view());
    const auto estimate =
        detail::condition_estimate<double, HostContext>(together_, of_A, &again, 8);
    EXPECT_EQ(estimate.whole, condition);
  }
}

TEST_F(DistributedMultigrid, TakesRigidBodyMotions) {
  constexpr Index kSteps = 16;  // from 14 on the estimates do not change any more
  const std::array<Index, 3> cubes{12, 9, 8};
  const HostCsrMatrix<double> A =
      generate<double>(alone_, {"elasticity3d", {cubes[0], cubes[1], cubes[2]}});
  const RowRanges ranges = balanced(A, 3);
  const RowRange own = ranges.of(processes()->rank());
  const MultiVector<double, HostSpace> motions = test::rigid_body_motions(alone_, cubes);
  const DistributedCsr<double, HostSpace> part = shared(A, ranges);
  SparseOperator<double, HostContext> of_A(together_, part.view()), alone_A(alone_, A.view());
  Preconditioner M(together_, part.view(),
                   {.near_null = {motions.view().data() + own.first * motions.ld(), own.local, 6,
                                  motions.ld()}});
  Preconditioner M_alone(alone_, A.view(), {.near_null = motions.view()});
  Preconditioner translations(together_, part.view());
  const auto condition = [&](Preconditioner& of) {
    return detail::condition_estimate<double, HostContext>(together_, of_A, &of, kSteps).whole;
  };
  const double exact =
      detail::condition_estimate<double, HostContext>(alone_, alone_A, &M_alone, kSteps).whole;
  EXPECT_LE(std::sqrt(condition(M)), 1.2 * std::sqrt(exact));  // iterations grow with the root
  EXPECT_LT(condition(M), condition(translations));
  EXPECT_EQ(M.levels()[1].rows, 6 * M.levels()[0].aggregates);
}

/// What one process finds, all throw.
TEST_F(DistributedMultigrid, AllProcessesRefuseAlike) {
  HostCsrMatrix<double> A = generate<double>(alone_, {"laplace2d", {30, 31}});
  const RowRanges ranges = balanced(A);
  const auto refusal = [&](const MultigridOptions& options) -> std::string {
    const DistributedCsr<double, HostSpace> part = shared(A, ranges);
    try {
      Preconditioner M(together_, part.view(), options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({.unknowns = 7}).find("930 rows are not a multiple of 7 unknowns"),
            std::string::npos);
  EXPECT_NE(refusal({.unknowns = 310}).find("the rows of a process end within a node of 310"),
            std::string::npos);
  test::RandomBlock<double> few(3, 1, 1, 1);
  EXPECT_NE(refusal({.near_null = few.view()}).find("near_null has "), std::string::npos);
  const Index last = A.rows() - 1;  // on one process only
  double& entry = A.values()[A.view().row_offsets[last + 1] - 1];
  entry = -entry;
  EXPECT_NE(refusal({}).find("its diagonal entry in row 930 is -4"), std::string::npos);
  entry = std::nan("");
  EXPECT_NE(refusal({}).find("not finite"), std::string::npos);
  entry = 4;
  for (Index i = 0; i < A.rows(); ++i) {
    for (std::int64_t e = A.view().row_offsets[i]; e < A.view().row_offsets[i + 1]; ++e) {
      if (A.view().columns[e] == i) A.values()[e] = 3;
    }
  }
  EXPECT_NE(refusal({}).find("must be positive semidefinite"), std::string::npos);
}

/// Products and transposes of distributed matrices are those of one process.
TEST_F(DistributedMultigrid, ProductsAndTransposesOfRows) {
  const HostCsrMatrix<double> A =
      generate<double>(alone_, {.name = "random_uniform", .size = {300, 200}, .density = 3});
  const HostCsrMatrix<double> B = transpose<double>(alone_, A.view());
  const RowRanges rows = with_an_empty_one(300, 1), columns = with_an_empty_one(200, 1);
  const DistributedCsr<double, HostSpace> D = scatter<double>(together_, A.view(), rows, columns);
  const HostCsrMatrix<double> B_rows = transposed_rows(together_, D.view());
  EXPECT_EQ(B_rows.rows(), columns.of(processes()->rank()).local);
  const auto expect_same = [](const HostCsrMatrix<double>& found,
                              const HostCsrMatrix<double>& exact, double tolerance) {
    ASSERT_EQ(found.rows(), exact.rows());
    ASSERT_EQ(found.cols(), exact.cols());
    ASSERT_EQ(found.nnz(), exact.nnz());
    for (Index e = 0; e < exact.nnz(); ++e) {
      EXPECT_EQ(found.view().columns[e], exact.view().columns[e]);
      EXPECT_NEAR(found.view().values[e], exact.view().values[e], tolerance);
    }
  };
  expect_same(all_rows(together_, global_rows(together_, D.view()).view()), A, 0);
  expect_same(all_rows(together_, B_rows.view()), B, 0);
  expect_same(all_rows(together_, distributed_product(together_, D.view(), B_rows.view(),
                                                      rows.of(processes()->rank()))
                                      .view()),
              spgemm<double>(alone_, A.view(), B.view()), 1e-13);
}

}  // namespace
}  // namespace heddle
