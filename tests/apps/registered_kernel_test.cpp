#include <gtest/gtest.h>

#include <apps/registered_kernel.hpp>
#include <spmm/kernels/row_by_row.hpp>

namespace heddle::apps {
namespace {

TEST(RegisteredKernel, IsChosenByItsNameInAYamlFile) {
  heddle::test::register_row_by_row();
  const nlohmann::json json = test::solve_with_kernel("host", "row_by_row");
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json.at("spmm_kernel"), "row_by_row");
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_GT(heddle::test::row_by_row_products(), 0);
}

}  // namespace
}  // namespace heddle::apps
