#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <tuple>

#include "solvers/eigen_test_support.hpp"
#include "solvers/linear_test_support.hpp"
#include "support/cuda_test.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

template <class T>
class CudaSpectrum : public test::CudaTest {
 protected:
  /// A generated matrix in device memory.
  SparseOperator<T, CudaContext> device_operator(const GallerySpec& spec) {
    return {context(), place(context(), generate<T>(host_, spec))};
  }

  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaSpectrum, Scalars);

TYPED_TEST(CudaSpectrum, DensityIsThatOfTheHost) {
  using T = TypeParam;
  const GallerySpec spec{"laplace2d", {40, 41}};
  auto device = this->device_operator(spec);
  auto host = test::make_operator<T>(this->host_, spec);
  const auto there = spectral_density<T, CudaContext>(this->context(), device);
  const auto here = spectral_density<T, HostContext>(this->host_, host);
  // The interval moves by rounding, T_512 at most 512² times as much.
  const double allowed = test::tolerance<T>(1640, 1, 512 * 512);
  EXPECT_NEAR(there.lower(), here.lower(), test::tolerance<T>(8, 1640, 100));
  EXPECT_NEAR(there.upper(), here.upper(), test::tolerance<T>(8, 1640, 100));
  for (const double end : {1.0, 2.5, 4.0, 7.0}) {
    EXPECT_NEAR(there.count(0, end).count, here.count(0, end).count, allowed) << end;
  }
}

TYPED_TEST(CudaSpectrum, AnIntervalHoldsAllAnalyticEigenvalues) {
  using T = TypeParam;
  for (const auto& [spec, lower, upper] : {std::tuple(GallerySpec{"laplace2d", {24, 24}}, 3.9, 4.1),
                                           {GallerySpec{"laplace3d", {13, 13, 13}}, 2.0, 2.2}}) {
    SCOPED_TRACE(spec.name);
    auto A = this->device_operator(spec);
    IntervalOptions options;
    options.lower = lower;
    options.upper = upper;
    options.nev = 60;
    std::vector<double> expected;
    for (const double value : laplace_smallest_eigenvalues(spec.size, A.rows())) {
      if (lower <= value && value <= upper) expected.push_back(value);
    }
    const auto result = interval_eigenpairs<T, CudaContext>(this->context(), {&A}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    ASSERT_EQ(result.eigenvalues.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(result.eigenvalues[i], expected[i],
                  2 * kDefaultTolerance<T> * 12 + test::tolerance<T>(12, 1))
          << i;
    }
  }
}

TYPED_TEST(CudaSpectrum, AnIntervalIsThatOfTheHostAndHasTheSameBitsTwice) {
  using T = TypeParam;
  const GallerySpec spec{"laplace2d", {24, 25}};
  auto A = this->device_operator(spec);
  auto on_host = test::make_operator<T>(this->host_, spec);
  IntervalOptions options;
  options.lower = 3.8;
  options.upper = 4.1;
  options.nev = 60;
  CudaContext& context = this->context();
  const auto first = interval_eigenpairs<T, CudaContext>(context, {&A}, options);
  const auto second = interval_eigenpairs<T, CudaContext>(context, {&A}, options);
  const auto expected = interval_eigenpairs<T, HostContext>(this->host_, {&on_host}, options);
  ASSERT_EQ(first.status, SolveStatus::converged) << first.reason;
  ASSERT_EQ(first.eigenvalues.size(), expected.eigenvalues.size());
  for (std::size_t i = 0; i < expected.eigenvalues.size(); ++i) {
    EXPECT_NEAR(first.eigenvalues[i], expected.eigenvalues[i],
                2 * kDefaultTolerance<T> * 8 + test::tolerance<T>(8, 1));
  }
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
  const auto entries = [&](const EigenResult<T, DeviceSpace>& result) {
    const Index count = std::ssize(result.eigenvalues);  // further columns hold anything
    const MultiVector<T, DeviceSpace>& X = result.eigenvectors;
    MultiVector<T, HostSpace> fetched(this->host_, X.rows(), count);
    fetch<T>(context, X.columns(0, count), fetched.view());
    return test::all_entries<T>(fetched.view());
  };
  EXPECT_EQ(entries(first), entries(second));
}

}  // namespace
}  // namespace heddle
