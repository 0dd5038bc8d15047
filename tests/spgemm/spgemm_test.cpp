#include "spgemm/spgemm_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

using OnHostScalars = ::testing::Types<test::OnHost<float>, test::OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Spgemm, OnHostScalars);

TEST(SpgemmThreads, GiveTheSameBits) {
  const auto A = test::power_law_matrix<double>(3000, 3000, 800);
  HostContext one(1);
  const HostCsrMatrix<double> expected = spgemm<double>(one, A.view(), A.view());
  for (const int threads : {2, 3, 8}) {
    HostContext context(threads);
    const HostCsrMatrix<double> C = spgemm<double>(context, A.view(), A.view());
    EXPECT_TRUE(test::same_bits(C.view(), expected.view())) << threads;
  }
}

/// Terms that cancel leave an entry with the value 0.
TEST(SpgemmPattern, HasEntriesWhoseTermsCancel) {
  HostContext context(1);
  const std::vector<Triplet<double>> left = {{0, 0, 1}, {0, 1, -1}};
  const std::vector<Triplet<double>> right = {{0, 1, 2}, {1, 0, 3}, {1, 1, 2}};
  const auto A = csr_from_triplets<double>(context, 1, 2, left);
  const auto B = csr_from_triplets<double>(context, 2, 2, right);
  const HostCsrMatrix<double> C = spgemm<double>(context, A.view(), B.view());
  ASSERT_EQ(C.nnz(), 2);
  EXPECT_EQ(C.view().values[0], -3);
  EXPECT_EQ(C.view().values[1], 0);
}

TEST(SpgemmProfile, CountsFlopsAndBytes) {
  HostContext context(1);
  const auto A = test::band_matrix<double>(10, 10, 1);
  const SpgemmPlan<double, HostContext> plan(context, A.view(), A.view());
  EXPECT_EQ(plan.counts().nnz, 10 + 2 * 9 + 2 * 8);
  EXPECT_EQ(plan.counts().multiplications, 8 * 9 + 2 * 5 - 2);
  EXPECT_DOUBLE_EQ(plan.counts().compression(), 80.0 / 44.0);
}

}  // namespace
}  // namespace heddle
