#include "linalg/sparse/csr_ops_battery.hpp"
#include "support/cuda_test.hpp"

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
