#include <heddle/spgemm/hybrid.hpp>

#include "spgemm/spgemm_battery.hpp"
#include "support/in_device_memory.hpp"

namespace heddle {
namespace {

using OnGpuScalars = ::testing::Types<test::InDeviceMemory<float>, test::InDeviceMemory<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, Spgemm, OnGpuScalars);

using SpgemmToHost = test::CudaTest;

TEST_F(SpgemmToHost, HasTheBitsOfTheProductInDeviceMemory) {
  HostContext host(2);
  const auto A = place(context(), generate<double>(host, {"laplace3d", {30, 20, 10}}));
  const HostCsrMatrix<double> whole =
      fetch(context(), host, spgemm<double>(context(), A.view(), A.view()).view());
  const auto bytes = static_cast<std::size_t>(whole.nnz()) * (sizeof(double) + sizeof(int));
  for (const std::size_t limit : {4 * bytes, bytes, bytes / 10}) {
    const HostCsrMatrix<double> blocks =
        spgemm_to_host<double>(context(), host, A.view(), A.view(), limit);
    EXPECT_TRUE(test::same_bits(blocks.view(), whole.view())) << limit;
  }
}

TEST_F(SpgemmToHost, NamesTheRowThatDoesNotFit) {
  HostContext host(2);
  const auto A = place(context(), generate<double>(host, {"laplace1d", {100}}));
  try {
    spgemm_to_host<double>(context(), host, A.view(), A.view(), 100);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("row 1 of C has 3 entries"), std::string::npos)
        << error.what();
  }
}

/// The most memory beside A while A² is computed, relative to the memory of A².
double memory_of_square(CsrView<double, HostSpace> A) {
  CudaContext fresh;
  const auto on_gpu = place(fresh, A);
  const std::size_t before = fresh.allocation_count().live_bytes;
  const auto C = spgemm<double>(fresh, on_gpu.view(), on_gpu.view());
  const std::size_t product = fresh.allocation_count().live_bytes - before;
  const std::size_t peak = fresh.allocation_count().peak_bytes - before;
  return static_cast<double>(peak) / static_cast<double>(product);
}

TEST_F(SpgemmToHost, MemoryBesideTheProductIsATenthOfIt) {
  HostContext host(2);
  const GallerySpec specs[] = {{"laplace3d", {60, 60, 60}},
                               {"stencil27", {60, 60, 60}},
                               {"random_uniform", {60000, 60000}, 2.5},
                               {"random_uniform", {70000, 70000}, 2.5}};
  for (const GallerySpec& spec : specs) {
    const auto A = generate<double>(host, spec);
    SCOPED_TRACE(spec.name + " with " + std::to_string(A.rows()) + " rows");
    EXPECT_LE(memory_of_square(A.view()), 1.1);
  }
  // Chains of rows that repeat the row before, and links between them, as roads have.
  constexpr Index kRows = 100000;
  const auto roads = test::matrix_with_pattern<double>(kRows, kRows, [](Index i) {
    constexpr Index kChain = 20;
    std::set<Index> columns{std::max<Index>(i - 1, 0), i, std::min(i + 1, kRows - 1)};
    if (i % kChain == 0) columns.insert(i * 7919 % kRows);
    return columns;
  });
  EXPECT_LE(memory_of_square(roads.view()), 1.1);
}

using SpgemmRuns = test::CudaTest;

TEST_F(SpgemmRuns, OfManyRowsAreComputedInStrips) {
  HostContext host(2);
  // The places of the rows of a run have 16 bits: the second matrix has one run of 150 000 rows.
  const GallerySpec specs[] = {{"laplace2d", {5000, 33}}, {"laplace1d", {150000}}};
  for (const GallerySpec& spec : specs) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<double>(host, spec);
    const auto on_gpu = place(context(), convert<double>(host, A.view()));
    const SpgemmPlan<double, CudaContext> plan(context(), on_gpu.view(), on_gpu.view());
    auto C = plan.multiply(context(), on_gpu.view(), on_gpu.view());
    EXPECT_EQ(fault_of_product(host, A.view(), A.view(), fetch(context(), host, C.view()).view()),
              "");
    const auto first = fetch(context(), host, C.view());
    plan.update(context(), on_gpu.view(), on_gpu.view(), C);
    EXPECT_TRUE(test::same_bits(fetch(context(), host, C.view()).view(), first.view()));
  }
}

using Hybrid = test::CudaTest;

TEST_F(Hybrid, GivesTheProductWithEveryShare) {
  HostContext host(2);
  const auto A = test::power_law_matrix<double>(2000, 1500, 300);
  const auto B = test::random_matrix<double>(1500, 1800, 5);
  HybridSpgemm<double> product(context(), host, A.view(), B.view());
  constexpr std::size_t kBytes = 1 << 20;
  for (const double share : {0.0, 0.1, 0.7, 1.0}) {
    SCOPED_TRACE(share);
    HybridReport report;
    const CsrView<double, HostSpace> C = product.multiply(share, kBytes, report);
    EXPECT_EQ(fault_of_product(host, A.view(), B.view(), C), "");
    EXPECT_NEAR(report.gpu_share, share, 0.05);
    EXPECT_EQ(report.gpu_rows == 0, share == 0);
    EXPECT_EQ(report.gpu_rows == 2000, share == 1);
  }
  const double share = product.measure_share(0.05, kBytes);
  HybridReport report;
  const CsrView<double, HostSpace> C = product.multiply(share, kBytes, report);  // 0 ≤ share ≤ 1
  EXPECT_EQ(fault_of_product(host, A.view(), B.view(), C), "");
  EXPECT_THROW(product.multiply(1.5, kBytes, report), InvalidArgument);
  EXPECT_THROW(product.measure_share(0, kBytes), InvalidArgument);
}

}  // namespace
}  // namespace heddle
