#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/interval_eigenpairs.hpp>
#include <heddle/solvers/spectral_density.hpp>

#include "solvers/eigen_test_support.hpp"
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
  auto A = this->device_operator({"laplace2d", {24, 24}});
  IntervalOptions options;
  options.lower = 3.9;
  options.upper = 4.1;
  options.nev = 60;
  std::vector<double> expected;
  for (const double value : laplace_smallest_eigenvalues({24, 24}, 576)) {
    if (options.lower <= value && value <= options.upper) expected.push_back(value);
  }
  const auto result = interval_eigenpairs<T, CudaContext>(this->context(), {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_EQ(result.eigenvalues.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i],
                2 * kDefaultTolerance<T> * 8 + test::tolerance<T>(8, 1))
        << i;
  }
}

}  // namespace
}  // namespace heddle
