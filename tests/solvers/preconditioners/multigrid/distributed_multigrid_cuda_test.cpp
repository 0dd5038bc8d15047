#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <support/gpus.hpp>
#include <utility>

#include "multigrid_battery.hpp"

namespace heddle {
namespace {

using test::processes;

class MultigridOnGpus : public test::OnGpus {
 protected:
  /// M X on the GPUs and on the host, of the same distributed A.
  void expect_host_result(const HostCsrMatrix<double>& A, Index node) {
    const RowRanges ranges = balanced_rows(A.view(), processes()->size(), 1, node);
    const RowRange own = ranges.of(processes()->rank());
    const DistributedCsr<double, HostSpace> part =
        scatter<double>(together_, A.view(), ranges, ranges);
    const DistributedCsr<double, DeviceSpace> there = place(gpu(), part.view());
    MultigridPreconditioner<double, HostContext> on_host(together_, part.view());
    MultigridPreconditioner<double, CudaContext> on_gpu(gpu(), there.view());
    ASSERT_EQ(on_gpu.levels().size(), on_host.levels().size());
    for (std::size_t l = 0; l < on_host.levels().size(); ++l) {
      EXPECT_EQ(on_gpu.levels()[l].rows, on_host.levels()[l].rows);
      EXPECT_EQ(on_gpu.levels()[l].nnz, on_host.levels()[l].nnz);
    }
    for (const Index b : {1, 5, 16}) {
      MultiVector<double, HostSpace> X(together_, own.local, b), wanted(together_, own.local, b);
      fill_random<double>(together_, 1, 2, X.view(), own.first);
      on_host.apply(together_, X.view(), wanted.view());
      MultiVector<double, DeviceSpace> X_there(gpu(), own.local, b), Y(gpu(), own.local, b);
      send<double>(gpu(), std::as_const(X).view(), X_there.view());
      on_gpu.apply(gpu(), X_there.view(), Y.view());
      const MultiVector<double, HostSpace> found = fetch(gpu(), together_, std::move(Y));
      double largest = 0, error = 0;
      for (Index i = 0; i < own.local; ++i) {
        for (Index j = 0; j < b; ++j) {
          largest = std::max(largest, std::abs(wanted.view()(i, j)));
          error = std::max(error, std::abs(found.view()(i, j) - wanted.view()(i, j)));
        }
      }
      EXPECT_LE(error, 1e-11 * largest) << b << " columns";
    }
  }
};

TEST_F(MultigridOnGpus, HasTheResultOfTheHost) {
  expect_host_result(generate<double>(alone_, {"laplace3d", {37, 36, 35}}), 1);
  expect_host_result(generate<double>(alone_, {"elasticity3d", {9, 8, 9}}), 3);
  expect_host_result(test::grid_graph(alone_, 30, 31, 4), 1);
}

}  // namespace
}  // namespace heddle
