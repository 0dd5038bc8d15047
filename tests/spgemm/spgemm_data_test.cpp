#include <gtest/gtest.h>

#include "spgemm/real_matrices.hpp"
#include "spgemm/spgemm_truth.hpp"

namespace heddle {
namespace {

/// A² of the square ones and A Aᵀ of all, against the reference.
TEST(SpgemmData, HostProductsOfRealMatrices) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  constexpr Index kMostEntries = 20000;
  HostContext context(2);
  int products = 0;
  for (const auto& file : test::real_matrices(*folder, kMostEntries)) {
    SCOPED_TRACE(file);
    const auto A = read_matrix_market<double>(context, file);
    const auto At = transpose<double>(context, A.view());
    const auto AAt = spgemm<double>(context, A.view(), At.view());
    EXPECT_EQ(fault_of_product(context, A.view(), At.view(), AAt.view()), "");
    ++products;
    if (A.rows() != A.cols()) continue;
    const auto AA = spgemm<double>(context, A.view(), A.view());
    EXPECT_EQ(fault_of_product(context, A.view(), A.view(), AA.view()), "");
  }
  EXPECT_GT(products, 20);
}

}  // namespace
}  // namespace heddle
