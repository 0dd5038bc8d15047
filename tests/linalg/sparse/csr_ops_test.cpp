#include "linalg/sparse/csr_ops_battery.hpp"

namespace heddle {
namespace {

template <class T>
struct OnHost {
  using Scalar = T;
  using Context = HostContext;
  class Fixture : public testing::Test {
   protected:
    HostContext& context() { return context_; }

   private:
    HostContext context_{3};
  };
};

using OnHostScalars = ::testing::Types<OnHost<float>, OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, CsrOps, OnHostScalars);

TEST(CsrOpsOfComplexMatrices, AreThoseOfTheDenseMatrix) {
  HostContext context(3);
  expect_operations_of_complex_matrices(context);
}

TEST(CsrOpsThreads, GiveTheSameBits) {
  const auto A = test::random_matrix<double>(2000, 2000, 20);
  const auto scaled = [&](HostContext& context) {
    HostCsrMatrix<double> B = with_stored_diagonal(context, A.view());
    const Buffer<double, HostSpace> d = extract_diagonal(context, A.view());
    scale_symmetrically(context, d, B);
    shift_diagonal(context, 0.3, B);
    return B;
  };
  HostContext one(1);
  const auto expected = scaled(one);
  for (const int threads : {2, 3, 8}) {
    HostContext context(threads);
    EXPECT_EQ(norm_1(context, A.view()), norm_1(one, A.view())) << threads;
    EXPECT_TRUE(test::same_bits(scaled(context).view(), expected.view())) << threads;
  }
}

}  // namespace
}  // namespace heddle
