#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/spmm.hpp>
#include <set>

#include "spmm/kernels/row_by_row.hpp"
#include "spmm/plan/product_case.hpp"

namespace heddle {
namespace {

using test::ProductCase;
using test::TestMatrix;

template <class Space>
void expect_distinct_names(const detail::KernelTable<Space>& table) {
  const auto& names = table.names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
  ASSERT_EQ(table.rows().size(), names.size());
  for (const std::string_view name : names) {
    const auto* row = table.find(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->traits.name, name);
    EXPECT_FALSE(row->traits.description.empty()) << name;
  }
  for (const std::string_view way : spmm_choices()) EXPECT_EQ(table.find(way), nullptr) << way;
}

/// A build without the backend has no makers.
template <class Space>
void expect_makers_of_traits(const detail::KernelTable<Space>& table) {
  using Complex = std::complex<double>;
  for (const auto& row : table.rows()) {
    const bool any = std::get<detail::MakeKernel<double, Space>>(row.makers) != nullptr;
    const bool complex = std::get<detail::MakeKernel<Complex, Space>>(row.makers) != nullptr;
    EXPECT_EQ(complex, any && row.template takes<Complex>()) << row.traits.name;
    EXPECT_TRUE(row.template takes<double>()) << row.traits.name;
  }
}

TEST(KernelTable, ComplexMatricesHaveTheMakersThatTheTraitsSay) {
  expect_makers_of_traits(detail::host_kernel_table());
  expect_makers_of_traits(detail::cuda_kernel_table());
  EXPECT_TRUE(detail::cuda_kernel_table().find("row_split")->takes<std::complex<double>>());
  EXPECT_FALSE(detail::cuda_kernel_table().find("panel_mma")->takes<std::complex<double>>());
}

TEST(KernelTable, NamesAreOneToOne) {
  expect_distinct_names(detail::host_kernel_table());
  expect_distinct_names(detail::cuda_kernel_table());
}

TEST(KernelTable, AllNamesAreThoseOfEachBackendOnce) {
  const std::vector<std::string_view> all = all_spmm_kernels();
  std::set<std::string_view> expected;
  for (const auto& names :
       {detail::host_kernel_table().names(), detail::cuda_kernel_table().names()}) {
    expected.insert(names.begin(), names.end());
  }
  EXPECT_EQ(std::set<std::string_view>(all.begin(), all.end()), expected);
  EXPECT_EQ(all.size(), expected.size());
}

TEST(KernelTable, RefusesANameThatIsTaken) {
  detail::KernelTable<HostSpace> table;
  table.add({.traits = {.name = "one", .description = "the first"}, .makers = {}});
  table.add({.traits = {.name = "two", .description = "another"}, .makers = {}});
  EXPECT_EQ(table.names(), (std::vector<std::string_view>{"one", "two"}));
  try {
    table.add({.traits = {.name = "one", .description = "again"}, .makers = {}});
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "an SpMM kernel 'one' exists already");
  }
  EXPECT_EQ(table.names().size(), 2u);
}

template <class T>
class RegisteredKernel : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(RegisteredKernel, Scalars);

TYPED_TEST(RegisteredKernel, IsChosenByItsName) {
  using T = TypeParam;
  test::register_row_by_row();
  HostContext context(2);
  const auto& names = spmm_kernels(context);
  EXPECT_NE(std::find(names.begin(), names.end(), "row_by_row"), names.end());

  const TestMatrix<T> A = test::random_matrix<T>(40, 30, 5);
  const SpmmPlan<T, HostContext> plan(context, A.view(), {"row_by_row"});
  EXPECT_EQ(plan.kernel(3), "row_by_row");
  EXPECT_EQ(plan.reason(3), "row_by_row was asked for");
  ProductCase<T> product(A, 3, {1, 2}, test::number<T>(-0.7, 0.6), test::number<T>(1.3, -0.4));
  const int before = test::row_by_row_products();
  product.expect(product.on_host(context, plan), "row_by_row");
  EXPECT_EQ(test::row_by_row_products(), before + 1);
}

TYPED_TEST(RegisteredKernel, LeavesTheChoiceAlone) {
  using T = TypeParam;
  test::register_row_by_row();
  HostContext context(2);
  const TestMatrix<T> A = test::random_matrix<T>(40, 30, 5);
  EXPECT_EQ((SpmmPlan<T, HostContext>(context, A.view()).kernel(3)), "row_split");
}

}  // namespace
}  // namespace heddle
