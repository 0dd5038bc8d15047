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

TEST_F(SpgemmToHost, MemoryBesideTheProductIsATenthOfIt) {
  HostContext host(2);
  for (const char* name : {"laplace3d", "stencil27"}) {
    const auto A = place(context(), generate<double>(host, {name, {60, 60, 60}}));
    CudaContext fresh;
    const auto B = place(fresh, fetch(context(), host, A.view()));
    const std::size_t before = fresh.allocation_count().live_bytes;
    const auto C = spgemm<double>(fresh, B.view(), B.view());
    const std::size_t product = fresh.allocation_count().live_bytes - before;
    const std::size_t peak = fresh.allocation_count().peak_bytes - before;
    EXPECT_LE(static_cast<double>(peak), 1.1 * static_cast<double>(product)) << name;
  }
}

}  // namespace
}  // namespace heddle
