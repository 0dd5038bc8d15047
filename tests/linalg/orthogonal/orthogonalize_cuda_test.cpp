#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>

#include "linalg/orthogonal/gram_schmidt_battery.hpp"
#include "linalg/orthogonal/orthogonalize_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/on_device.hpp"

namespace heddle {
namespace {

using OnGpuScalars = ::testing::Types<test::OnGpu<float>, test::OnGpu<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, Orthogonalize, OnGpuScalars);
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, GramSchmidt, OnGpuScalars);

template <class T>
class CudaOrthogonalize : public test::CudaTest {};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaOrthogonalize, Scalars);

/// [Q X] and another X in device memory, and the ways to orthonormalise them.
template <class T>
class DeviceWork {
 public:
  DeviceWork(CudaContext& context, Index cols)
      : context_(context),
        cols_(cols),
        S_(context, kRows, kBasis + cols),
        other_(context, kRows, cols),
        status_(context, CholeskyQrStatus::rows, 1),
        orthogonalizer_(context, std::max(cols, kBasis), kBasis) {}

  void start() {
    fill_random<T>(context_, 1, 1, S_.view());
    fill_random<T>(context_, 1, 2, other_.view());
    orthogonalizer_.orthonormalize(context_, Q(), Q());
  }

  void gram_schmidt() {
    const auto X = S_.view().columns(kBasis, cols_);
    orthogonalizer_.gram_schmidt(context_, {{Q(), Q()}}, X, X,
                                 status_.view(CholeskyQrStatus::rows, 1));
  }

  void orthonormalize() {
    orthogonalizer_.project(context_, {Q(), Q()}, other_.view(), {});
    orthogonalizer_.orthonormalize(context_, other_.view(), other_.view());
  }

  /// The blocks and the status.
  std::vector<double> results() {
    HostContext host(1);
    RandomSmall status(CholeskyQrStatus::rows, 1, 1);
    fetch(context_, status_.view(CholeskyQrStatus::rows, 1), status.view());
    std::vector<double> all = status.data();
    for (MultiVector<T, DeviceSpace>* block : {&S_, &other_}) {
      MultiVector<T, HostSpace> here(host, kRows, block->cols());
      fetch<T>(context_, block->view(), here.view());
      for (Index i = 0; i < kRows; ++i) {
        for (Index j = 0; j < here.cols(); ++j) {
          all.push_back(static_cast<double>(here.view()(i, j)));
        }
      }
    }
    return all;
  }

 private:
  static constexpr Index kRows = 20000;
  static constexpr Index kBasis = 12;

  BlockView<T, DeviceSpace> Q() { return S_.view().columns(0, kBasis); }

  CudaContext& context_;
  Index cols_;
  MultiVector<T, DeviceSpace> S_, other_;
  SmallMatrix<double, DeviceSpace> status_;
  Orthogonalizer<T, CudaContext> orthogonalizer_;
};

TYPED_TEST(CudaOrthogonalize, TwoRunsGiveTheSameBits) {
  for (const Index cols : {20, 130}) {
    DeviceWork<TypeParam> work(this->context(), cols);
    const auto run = [&] {
      work.start();
      work.gram_schmidt();
      work.orthonormalize();
      return work.results();
    };
    const std::vector<double> first = run();
    EXPECT_GT(first[CholeskyQrStatus::diagonal_ratio], 0);
    EXPECT_EQ(first, run());
  }
}

TYPED_TEST(CudaOrthogonalize, GramSchmidtNeitherAllocatesNorFetches) {
  for (const Index cols : {20, 130}) {
    DeviceWork<TypeParam> work(this->context(), cols);
    work.start();
    work.gram_schmidt();
    const std::size_t allocations = this->context().allocation_count().allocations;
    const std::size_t fetches = this->context().copy_count().to_host;
    work.gram_schmidt();
    EXPECT_EQ(this->context().allocation_count().allocations, allocations);
    EXPECT_EQ(this->context().copy_count().to_host, fetches);
  }
}

}  // namespace
}  // namespace heddle
