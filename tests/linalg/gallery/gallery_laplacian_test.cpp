#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

Eigen::VectorXd spectrum(const GallerySpec& spec) {
  HostContext context(2);
  return test::eigenvalues(test::to_dense(generate<double>(context, spec).view()));
}

void expect_near(const Eigen::VectorXd& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), static_cast<Eigen::Index>(expected.size()));
  const double tolerance =
      test::tolerance<double>(actual.cwiseAbs().maxCoeff(), static_cast<double>(actual.size()));
  for (Eigen::Index k = 0; k < actual.size(); ++k) {
    EXPECT_NEAR(actual(k), expected[static_cast<std::size_t>(k)], tolerance) << "number " << k;
  }
}

const std::vector<std::vector<Index>> kGrids{{1}, {17}, {6, 5}, {8, 8}, {4, 3, 5}, {4, 4, 4}};

TEST(Laplacian, DenseSpectrumIsTheAnalyticOne) {
  for (const std::vector<Index>& size : kGrids) {
    const GallerySpec spec{"laplace" + std::to_string(size.size()) + "d", size};
    const Eigen::VectorXd dense = spectrum(spec);
    std::vector<double> analytic = laplace_smallest_eigenvalues(size, dense.size());
    EXPECT_TRUE(std::is_sorted(analytic.begin(), analytic.end()));
    expect_near(dense, analytic);
    analytic = laplace_largest_eigenvalues(size, dense.size());
    std::reverse(analytic.begin(), analytic.end());
    EXPECT_TRUE(std::is_sorted(analytic.begin(), analytic.end()));
    expect_near(dense, analytic);
  }
}

// The stencil is 27 I minus the Kronecker product of tridiagonal matrices of ones.
TEST(Stencil27, DenseSpectrumIsTheAnalyticOne) {
  const std::vector<Index> size{4, 3, 5};
  std::vector<double> analytic{1};
  for (const Index n : size) {
    std::vector<double> products;
    for (Index j = 1; j <= n; ++j) {
      const double line =
          1 + 2 * std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(n + 1));
      for (const double product : analytic) products.push_back(product * line);
    }
    analytic = products;
  }
  for (double& value : analytic) value = 27 - value;
  std::sort(analytic.begin(), analytic.end());
  expect_near(spectrum({"stencil27", size}), analytic);
}

TEST(Laplacian, NumbersPointsWithXFastest) {
  HostContext context(1);
  const Eigen::MatrixXd A =
      test::to_dense(generate<double>(context, {"laplace3d", {3, 4, 5}}).view());
  EXPECT_EQ(A(0, 1), -1);
  EXPECT_EQ(A(0, 3), -1);
  EXPECT_EQ(A(0, 12), -1);
  EXPECT_EQ(A(2, 3), 0);
  EXPECT_EQ(A.row(31).sum(), 0);
}

TEST(Stencil27, RowsSumToWhatLiesOutside) {
  HostContext context(1);
  const auto A = generate<double>(context, {"stencil27", {3, 3, 4}});
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  EXPECT_EQ(dense.row(13).sum(), 0);
  EXPECT_EQ(dense.row(0).sum(), 19);
  EXPECT_EQ(A.nnz(), 7 * 7 * 10);
}

/// Compares with values published to 16 digits.
void expect_published(const std::vector<double>& actual, const std::vector<double>& published) {
  ASSERT_EQ(actual.size(), published.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    EXPECT_NEAR(actual[k], published[k], test::tolerance<double>(published[k], 1)) << k;
  }
}

TEST(LaplaceEigenvalues, TabulatedValues) {
  expect_published(laplace_smallest_eigenvalues({100}, 3),
                   {9.674354160238700e-04, 3.868805732811303e-03, 8.701304061962839e-03});
  expect_published(laplace_largest_eigenvalues({100}, 1), {3.999032564583977});
  expect_published(
      laplace_smallest_eigenvalues({32, 32}, 4),
      {1.811230970766158e-02, 4.519876032841738e-02, 4.519876032841738e-02, 7.228521094917319e-02});
  expect_published(
      laplace_smallest_eigenvalues({10, 11, 12}, 4),
      {2.072787653407646e-01, 3.782503488864488e-01, 4.070796103500238e-01, 4.437576469073969e-01});
  expect_published(
      laplace_smallest_eigenvalues({32, 32, 32}, 4),
      {2.716846456149237e-02, 5.425491518224817e-02, 5.425491518224817e-02, 5.425491518224817e-02});
}

TEST(LaplaceEigenvalues, LargeGridsCostNoMoreThanTheCount) {
  const std::vector<double> values = laplace_smallest_eigenvalues({1000000, 1000000, 1000000}, 7);
  ASSERT_EQ(values.size(), 7u);
  const double equal = test::tolerance<double>(values[6], 3);
  EXPECT_NEAR(values[1], values[3], equal);
  EXPECT_NEAR(values[4], values[6], equal);
  EXPECT_LT(values[0] + equal, values[1]);
  EXPECT_LT(values[3] + equal, values[4]);
}

TEST(LaplaceEigenvalues, BadRequestsAreRefused) {
  EXPECT_TRUE(laplace_smallest_eigenvalues({5}, 0).empty());
  EXPECT_THROW(laplace_smallest_eigenvalues({}, 1), InvalidArgument);
  EXPECT_THROW(laplace_smallest_eigenvalues({2, 2, 2, 2}, 1), InvalidArgument);
  EXPECT_THROW(laplace_smallest_eigenvalues({0}, 0), InvalidArgument);
  EXPECT_THROW(laplace_smallest_eigenvalues({5}, -1), InvalidArgument);
  EXPECT_THROW(laplace_smallest_eigenvalues({5}, 6), InvalidArgument);
  EXPECT_THROW(laplace_largest_eigenvalues({2, 3}, 7), InvalidArgument);
}

}  // namespace
}  // namespace heddle
