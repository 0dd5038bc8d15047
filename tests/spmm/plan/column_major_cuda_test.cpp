#include <heddle/spmm/column_major.hpp>

#include "spmm/plan/column_major_case.hpp"
#include "spmm/plan/spmm_cuda_fixture.hpp"

namespace heddle {
namespace {

template <class T>
class ColumnMajorCuda : public test::SpmmCuda<T> {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnMajorCuda, Scalars);

TYPED_TEST(ColumnMajorCuda, AgreesWithTheReference) {
  using T = TypeParam;
  for (const test::TestMatrix<T>& A :
       {test::random_matrix<T>(70, 45, 6), test::power_law_matrix<T>(1200, 700, 600)}) {
    const test::DeviceMatrix<T> device(this->context(), A);
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view());
    ColumnMajorProduct<T, CudaContext> product(plan, A.rows, A.cols);
    test::for_column_major_cases<T>(A, [&](test::ColumnMajorCase<T> blocks) {
      const Buffer<T, DeviceSpace> Bt = test::upload(this->context(), blocks.Bt);
      Buffer<T, DeviceSpace> Ct = test::upload(this->context(), blocks.Ct);
      product.multiply(this->context(), blocks.alpha, {Bt.data(), blocks.N, A.cols, blocks.ldb},
                       blocks.beta, {Ct.data(), blocks.N, A.rows, blocks.ldc});
      std::vector<T> result(blocks.Ct.size());
      this->context().copy_to_host(result.data(), Ct.data(), result.size() * sizeof(T));
      blocks.expect(result);
    });
  }
}

}  // namespace
}  // namespace heddle
