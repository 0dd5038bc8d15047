#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <support/processes.hpp>
#include <vector>

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
  const DistributedCsr<double, HostSpace> part =
      scatter<double>(together_, whole_.view(), ranges, ranges);
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

/// The entries of a diagonal that are zero count as the mean of all others.
TEST_F(DistributedSpectrum, UnusableDiagonalEntriesCountAsTheMeanOfAllProcesses) {
  constexpr Index kOrder = 40;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kOrder; ++i) {
    entries.push_back({i, i, i % 9 == 0 || i < 3 ? 0 : static_cast<double>(i)});
    if (i > 0) entries.push_back({i, i - 1, 1});
  }
  const auto A = csr_from_triplets<double>(alone_, kOrder, kOrder, entries);
  const auto exact = detail::inverse_diagonal<double>(alone_, A.view());
  const RowRanges ranges = equal_rows(kOrder, processes()->size());
  const RowRange own = ranges.of(processes()->rank());
  const auto part = scatter<double>(together_, A.view(), ranges, ranges);
  const auto inverse = detail::inverse_diagonal<double>(together_, part.view());
  const auto root = detail::inverse_root_diagonal<double>(together_, part.view());
  for (Index i = 0; i < own.local; ++i) {
    const double expected = exact[static_cast<std::size_t>(own.first + i)];
    const auto k = static_cast<std::size_t>(i);
    EXPECT_NEAR(inverse[k], expected, 1e-15);
    EXPECT_NEAR(root[k], std::sqrt(expected), 1e-15);
  }
}

}  // namespace
}  // namespace heddle
