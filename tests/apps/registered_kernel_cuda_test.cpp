#include <gtest/gtest.h>

#include <apps/registered_kernel.hpp>
#include <spmm/kernels/row_per_thread.hpp>
#include <support/cuda_test.hpp>

namespace heddle::apps {
namespace {

class RegisteredKernelOnGpu : public heddle::test::CudaTest {};

TEST_F(RegisteredKernelOnGpu, IsChosenByItsNameInAYamlFile) {
  heddle::test::register_row_per_thread();
  const nlohmann::json json = test::solve_with_kernel("cuda", "row_per_thread");
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json.at("spmm_kernel"), "row_per_thread");
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_GT(heddle::test::row_per_thread_products(), 0);
}

}  // namespace
}  // namespace heddle::apps
