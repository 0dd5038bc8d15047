#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>

#include "linalg/blocks/block_ops_battery.hpp"
#include "linalg/blocks/gram_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/on_device.hpp"

namespace heddle {
namespace {

using test::CudaTest;

using OnGpuScalars = ::testing::Types<test::OnGpu<float>, test::OnGpu<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, BlockOps, OnGpuScalars);
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, Gram, OnGpuScalars);

template <class T>
class CudaBlockOps : public CudaTest {};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaBlockOps, Scalars);

TYPED_TEST(CudaBlockOps, RandomBlocksAreThoseOfTheHost) {
  using T = TypeParam;
  HostContext host(1);
  RandomBlock<T> expected(3000, 17, 18, 1);
  RandomBlock<T> X(3000, 17, 20, 1);
  fill_random<T>(host, 42, 3, expected.view());
  fill_random<T>(test::OnDevice{this->context()}, 42, 3, X.view());
  for (Index i = 0; i < 3000; ++i) {
    for (Index j = 0; j < 17; ++j) ASSERT_EQ(X.view()(i, j), expected.view()(i, j));
  }
}

TYPED_TEST(CudaBlockOps, RowMaximaAgreeWithTheHost) {
  using T = TypeParam;
  HostContext host(1);
  RandomBlock<T> X(3000, 6, 7, 1);
  for (Index j = 0; j < 6; ++j) X.view()(17, j) = 0;
  RandomBlock<T> expected(3000, 1, 2, 2);
  RandomBlock<T> y(3000, 1, 2, 3);
  row_maxima<T>(host, X.view(), -0.5, expected.view());
  row_maxima<T>(test::OnDevice{this->context()}, X.view(), -0.5, y.view());
  for (Index i = 0; i < 3000; ++i) {
    const double root = static_cast<double>(expected.view()(i, 0));
    ASSERT_NEAR(static_cast<double>(y.view()(i, 0)), root, tolerance<T>(root, 4));
  }
}

TYPED_TEST(CudaBlockOps, WideBlocksAgreeWithTheHost) {
  using T = TypeParam;
  HostContext host(1);
  for (const auto& [a, b] : std::vector<std::pair<Index, Index>>{{300, 40}, {129, 200}, {8, 140}}) {
    RandomBlock<T> X(700, a, a, 1);
    RandomBlock<T> Y(700, b, b, 2);
    RandomSmall G(a, b, 3);
    RandomSmall expected_G(a, b, 4);
    gram<T>(test::OnDevice{this->context()}, X.view(), Y.view(), G.view());
    gram<T>(host, X.view(), Y.view(), expected_G.view());
    for (std::size_t k = 0; k < G.data().size(); ++k) {
      ASSERT_NEAR(G.data()[k], expected_G.data()[k], tolerance<double>(700, 700));
    }
    RandomBlock<T> expected_Y(700, b, b, 2);
    RandomSmall C(a, b, 5);
    multiply<T>(test::OnDevice{this->context()}, 2, X.view(), C.view(), -1, Y.view());
    multiply<T>(host, 2, X.view(), C.view(), -1, expected_Y.view());
    for (std::size_t k = 0; k < Y.data().size(); ++k) {
      ASSERT_NEAR(Y.data()[k], expected_Y.data()[k],
                  tolerance<T>(2 * static_cast<double>(a) + 1, 1));
    }
  }
}

TYPED_TEST(CudaBlockOps, WideMultiplyOverItsOwnInput) {
  using T = TypeParam;
  for (const auto& [a, b] : std::vector<std::pair<Index, Index>>{{300, 140}, {260, 130}}) {
    RandomBlock<T> S(500, a, a, 1);
    RandomBlock<T> S0(500, a, a, 1);
    RandomSmall C(a, b, 2);
    multiply<T>(test::OnDevice{this->context()}, 1, S.view(), C.view(), 0, S.view().columns(0, b));
    expect_product<T>(1, S0.view(), C.view(), 0, S0.view().columns(0, b), S.view().columns(0, b));
  }
}

/// Runs every operation on blocks in device memory.
template <class T>
class DeviceWork {
 public:
  explicit DeviceWork(CudaContext& context)
      : context_(context),
        X_(context, kRows, 40),
        Y_(context, kRows, 24),
        G_(context, 40, 40),
        C_(context, 40, 24),
        norms_(context, 24, 1) {}

  void run() {
    fill_random<T>(context_, 1, 1, X_.view());
    fill_random<T>(context_, 1, 2, Y_.view());
    gram<T>(context_, X_.view(), X_.view(), G_.view(40, 40));
    gram<T>(context_, X_.view(), Y_.view(), C_.view(40, 24));
    multiply<T>(context_, 1, X_.view(), C_.view(40, 24), 0.5, Y_.view());
    column_norms<T>(context_, Y_.view(), norms_.view(24, 1));
    residual<T>(context_, Y_.view(), Y_.view(), norms_.view(24, 1), Y_.view(), norms_.view(24, 1));
    scale_columns<T>(context_, norms_.view(24, 1), Y_.view());
    copy<T>(context_, Y_.view(), X_.view().columns(0, 24));
  }

  /// Everything that `run` made.
  std::vector<double> results(HostContext& host) {
    MultiVector<T, HostSpace> X(host, kRows, 40);
    SmallMatrix<double, HostSpace> G(host, 40, 40);
    fetch<T>(context_, X_.view(), X.view());
    fetch(context_, G_.view(40, 40), G.view(40, 40));
    std::vector<double> all(G.view(40, 40).data, G.view(40, 40).data + 40 * 40);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < 40; ++j) all.push_back(static_cast<double>(X.view()(i, j)));
    }
    return all;
  }

 private:
  static constexpr Index kRows = 20000;
  CudaContext& context_;
  MultiVector<T, DeviceSpace> X_, Y_;
  SmallMatrix<double, DeviceSpace> G_, C_, norms_;
};

TYPED_TEST(CudaBlockOps, TwoRunsGiveTheSameBits) {
  HostContext host(1);
  DeviceWork<TypeParam> work(this->context());
  work.run();
  const std::vector<double> first = work.results(host);
  work.run();
  EXPECT_EQ(first, work.results(host));
}

TYPED_TEST(CudaBlockOps, NothingIsAllocatedOrFetchedAfterTheFirstCallAtASize) {
  DeviceWork<TypeParam> work(this->context());
  work.run();
  const std::size_t allocations = this->context().allocation_count().allocations;
  const std::size_t fetches = this->context().copy_count().to_host;
  work.run();
  EXPECT_EQ(this->context().allocation_count().allocations, allocations);
  EXPECT_EQ(this->context().copy_count().to_host, fetches);
}

}  // namespace
}  // namespace heddle
