#include <heddle/linalg/sparse/accurate_residual.hpp>

#include "linalg/sparse/csr_ops_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/random_block.hpp"

namespace heddle {
namespace {

template <class T>
struct OnGpu {
  using Scalar = T;
  using Context = CudaContext;
  using Fixture = test::CudaTest;
};

using OnGpuScalars = ::testing::Types<OnGpu<float>, OnGpu<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, CsrOps, OnGpuScalars);

using CudaCsrOps = test::CudaTest;

TEST_F(CudaCsrOps, OfComplexMatricesAreThoseOfTheDenseMatrix) {
  expect_operations_of_complex_matrices(context());
}

/// The bits of the host, which an exact test judges.
template <class T>
void expect_accurate_residuals_of_the_host(CudaContext& gpu) {
  HostContext host(2);
  const auto A = test::random_matrix<T>(500, 500, 40);
  const auto B = test::random_matrix<T>(500, 500, 3);
  const DistributedCsrView<T, HostSpace> of_A = A.view(), of_B = B.view();
  const auto A_there = place<T>(gpu, A.view());
  const auto B_there = place<T>(gpu, B.view());
  const DistributedCsrView<T, DeviceSpace> A_view = A_there.view(), B_view = B_there.view();
  for (const Index b : {1, 11}) {
    test::RandomBlock<T> X(500, b, b, 1), R(500, b, b, 2), found(500, b, b, 3);
    MultiVector<T, DeviceSpace> X_there(gpu, 500, b), R_there(gpu, 500, b);
    send<T>(gpu, X.view(), X_there.view());
    const std::vector<double> theta(static_cast<std::size_t>(b), 0.3);
    for (const bool pencil : {false, true}) {
      accurate_residual<T>(host, of_A, pencil ? &of_B : nullptr, X.view(), theta, R.view());
      accurate_residual<T>(gpu, A_view, pencil ? &B_view : nullptr, std::as_const(X_there).view(),
                           theta, R_there.view());
      fetch<T>(gpu, std::as_const(R_there).view(), found.view());
      EXPECT_EQ(found.data(), R.data()) << b << (pencil ? " columns of a pencil" : " columns");
    }
  }
}

TEST_F(CudaCsrOps, AccurateResidualsAreThoseOfTheHost) {
  expect_accurate_residuals_of_the_host<float>(context());
  expect_accurate_residuals_of_the_host<double>(context());
  expect_accurate_residuals_of_the_host<std::complex<double>>(context());
}

TEST_F(CudaCsrOps, StayOnTheGpuWhereTheDiagonalIsStored) {
  HostContext host(1);
  const std::vector<Triplet<double>> entries = {{0, 0, 2}, {0, 1, -1}, {1, 0, -1}, {1, 1, 2}};
  const auto A = place(context(), csr_from_triplets<double>(host, 2, 2, entries));
  const CopyCount before = context().copy_count();
  auto B = with_stored_diagonal(context(), A.view());
  scale_symmetrically(context(), extract_diagonal(context(), A.view()), B);
  shift_diagonal(context(), 1, B);
  EXPECT_EQ(context().copy_count().to_host - before.to_host, 1);  // how many are not stored
  EXPECT_EQ(context().copy_count().to_device, before.to_device);
  EXPECT_EQ(norm_1(context(), B.view()), 13);  // 2·2·2 + 1 and 2·1·2
}

}  // namespace
}  // namespace heddle
