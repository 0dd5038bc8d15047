#include <gtest/gtest.h>

#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <support/processes.hpp>

namespace heddle {
namespace {

using test::processes;

/// Estimates of the spectrum of a distributed matrix are those of one process.
class DistributedSpectrum : public test::OnProcesses {
 protected:
  /// Process 0 has one row, fewer than there are steps.
  RowRanges uneven_rows() const {
    RowRanges ranges{{0}};
    for (int k = 1; k < processes()->size(); ++k) ranges.begins.push_back(k * k);
    ranges.begins.push_back(whole_.rows());
    return ranges;
  }

  HostCsrMatrix<double> whole_ = generate<double>(alone_, {"laplace2d", {20, 21}});
};

TEST_F(DistributedSpectrum, IsThatOfOneProcess) {
  const RowRanges ranges = uneven_rows();
  const HostCsrMatrix<double> part = scatter<double>(together_, whole_.view(), ranges, ranges);
  SparseOperator<double, HostContext> A(together_, part.view()), exact_A(alone_, whole_.view());

  const SpectralDensity density = spectral_density<double>(together_, A);
  const SpectralDensity exact = spectral_density<double>(alone_, exact_A);
  EXPECT_NEAR(density.lower(), exact.lower(), 1e-9);
  EXPECT_NEAR(density.count(-1, 9).count, 420, 1e-6);
  EXPECT_NEAR(density.count(1, 3).count, exact.count(1, 3).count, 1e-6);
  EXPECT_NEAR(density.count(1, 3).deviation, exact.count(1, 3).deviation, 1e-6);

  const auto estimate = detail::condition_estimate<double, HostContext>(together_, A, nullptr, 30);
  const auto of_one = detail::condition_estimate<double, HostContext>(alone_, exact_A, nullptr, 30);
  EXPECT_NEAR(estimate.half, of_one.half, 1e-6 * of_one.half);
  EXPECT_NEAR(estimate.whole, of_one.whole, 1e-6 * of_one.whole);
}

}  // namespace
}  // namespace heddle
