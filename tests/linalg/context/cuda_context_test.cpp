#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <vector>

#include "support/cuda_test.hpp"
#include "support/matrices.hpp"
#include "support/random_block.hpp"

namespace heddle {
namespace {

using test::RandomBlock;
using test::RandomSmall;

using CudaContextTest = test::CudaTest;

TEST(CudaDevices, ADeviceThatIsNotThereIsRefusedInOneLine) {
  const std::string reason = cuda_unavailable_reason(1000);
  EXPECT_FALSE(reason.empty());
  EXPECT_EQ(reason.find('\n'), std::string::npos);
  try {
    CudaContext context(1000);
    FAIL() << "there is no GPU 1000";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.what(), reason);
  }
}

TEST_F(CudaContextTest, DescribesItsDevice) {
  const CudaDevice& device = context().device();
  EXPECT_FALSE(device.name.empty());
  EXPECT_GE(device.compute_capability, 80);
  EXPECT_GT(device.multiprocessors, 0);
  EXPECT_EQ(device.threads_per_multiprocessor % 32, 0);
  EXPECT_GE(device.threads_per_multiprocessor, 1024);
  EXPECT_GE(device.memory_bytes, context().free_bytes() / 2);
  EXPECT_GE(device.driver_version, device.runtime_version / 1000 * 1000);
}

TEST_F(CudaContextTest, CountsAllocations) {
  {
    const Buffer<double, DeviceSpace> first(context(), 1000);
    const Buffer<double, DeviceSpace> second(context(), 0);
    EXPECT_EQ(context().allocation_count().allocations, 1u);
    EXPECT_EQ(context().allocation_count().live_bytes, 8000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0u);
    EXPECT_EQ(second.data(), nullptr);
  }
  EXPECT_EQ(context().allocation_count().live_bytes, 0u);
  EXPECT_EQ(context().allocation_count().peak_bytes, 8000u);
}

TEST_F(CudaContextTest, RunsOutOfMemoryWithTheBytesAskedForAndThoseThere) {
  const std::size_t too_much = 2 * context().device().memory_bytes;
  try {
    context().allocate(too_much);
    FAIL() << "twice the device's memory was given";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested(), too_much);
    EXPECT_NE(std::string(error.what()).find(std::to_string(too_much)), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(std::to_string(context().device().memory_bytes)),
              std::string::npos);
  }
  const Buffer<double, DeviceSpace> small(context(), 10);  // and goes on
  EXPECT_NE(small.data(), nullptr);
}

TEST_F(CudaContextTest, HandsFreedBlocksOutAgain) {
  constexpr std::size_t kBytes = 100000;
  void* first = nullptr;
  bool counted = false;  // another process may take memory of the GPU between the two questions
  for (int attempt = 0; attempt < 100 && !counted; ++attempt) {
    first = context().allocate(kBytes);
    const std::size_t free = context().free_bytes();
    context().deallocate(first, kBytes);
    counted = context().free_bytes() >= free + kBytes;
  }
  EXPECT_TRUE(counted);
  void* const again = context().allocate(kBytes - 10);
  EXPECT_EQ(again, first);
  context().deallocate(again, kBytes - 10);
}

TEST_F(CudaContextTest, ScratchGrowsAndStays) {
  void* small = context().scratch(1000);
  EXPECT_EQ(context().scratch(10), small);
  const std::size_t allocations = context().allocation_count().allocations;
  context().scratch(1000);
  EXPECT_EQ(context().allocation_count().allocations, allocations);
  context().scratch(std::size_t{1} << 24);
  EXPECT_GT(context().allocation_count().allocations, allocations);
}

TEST_F(CudaContextTest, BlocksTravelThereAndBack) {
  RandomBlock<float> there(500, 7, 9, 1);
  RandomBlock<float> back(500, 7, 7, 2);
  MultiVector<float, DeviceSpace> X(context(), 500, 7);
  send<float>(context(), there.view(), X.view());
  fetch<float>(context(), X.view(), back.view());
  for (Index i = 0; i < 500; ++i) {
    for (Index j = 0; j < 7; ++j) ASSERT_EQ(back.view()(i, j), there.view()(i, j));
  }
  EXPECT_EQ(context().copy_count().to_device, 1u);
  EXPECT_EQ(context().copy_count().to_host, 1u);
  EXPECT_EQ(context().copy_count().bytes_to_host, 500u * 7u * sizeof(float));
  EXPECT_THROW(send<float>(context(), there.view().columns(0, 3), X.view()), InvalidArgument);
}

TEST_F(CudaContextTest, SmallMatricesTravelThereAndBack) {
  RandomSmall there(9, 6, 1);
  RandomSmall back(9, 6, 2);
  SmallMatrix<double, DeviceSpace> A(context(), 20, 20);
  send(context(), there.view().block(2, 1, 5, 4), A.view(20, 20).block(3, 3, 5, 4));
  fetch(context(), A.view(20, 20).block(3, 3, 5, 4), back.view().block(2, 1, 5, 4));
  for (Index j = 0; j < 4; ++j) {
    for (Index i = 0; i < 5; ++i) ASSERT_EQ(back.view()(2 + i, 1 + j), there.view()(2 + i, 1 + j));
  }
  EXPECT_THROW(fetch(context(), A.view(3, 3), back.view()), InvalidArgument);
}

/// Few bytes come to the host by way of page-locked memory, more do not.
TEST_F(CudaContextTest, BytesOfAnyNumberTravelThereAndBack) {
  for (const std::size_t size : {1U, 255U, 16384U, 16385U, 100000U}) {
    SCOPED_TRACE(size);
    std::vector<unsigned char> there(size), back(size);
    for (std::size_t k = 0; k < size; ++k) there[k] = static_cast<unsigned char>(k * 37 + size);
    Buffer<unsigned char, DeviceSpace> bytes(context(), size);
    context().copy_to_device(bytes.data(), there.data(), size);
    context().copy_to_host(back.data(), bytes.data(), size);
    EXPECT_EQ(back, there);
  }
}

TEST_F(CudaContextTest, MatricesTravelThereAndBack) {
  const test::TestMatrix<double> matrix = test::random_matrix<double>(300, 200, 5);
  HostContext host(1);
  HostCsrMatrix<double> A(host, 300, 200, static_cast<Index>(matrix.values.size()));
  std::copy(matrix.offsets.begin(), matrix.offsets.end(), A.row_offsets());
  std::copy(matrix.columns.begin(), matrix.columns.end(), A.columns());
  std::copy(matrix.values.begin(), matrix.values.end(), A.values());
  const CsrMatrix<double, DeviceSpace> placed = place(context(), std::move(A));
  const HostCsrMatrix<double> back = fetch(context(), host, placed.view());
  ASSERT_EQ(back.nnz(), static_cast<Index>(matrix.values.size()));
  EXPECT_TRUE(std::equal(matrix.offsets.begin(), matrix.offsets.end(), back.view().row_offsets));
  EXPECT_TRUE(std::equal(matrix.columns.begin(), matrix.columns.end(), back.view().columns));
  EXPECT_TRUE(std::equal(matrix.values.begin(), matrix.values.end(), back.view().values));
}

/// One context writes while another one reads, on streams that do not wait for each other unless
/// told.
TEST_F(CudaContextTest, WaitsForAnotherStreamAndLetsItWait) {
  CudaContext other;
  HostContext host(1);
  const Index rows = 1 << 22;
  MultiVector<double, DeviceSpace> X(other, rows, 8);
  MultiVector<double, DeviceSpace> Y(context(), rows, 8);
  MultiVector<double, HostSpace> found(host, 1, 8);
  const auto last = [&](const MultiVector<double, DeviceSpace>& Z) {
    const ConstBlockView<double, DeviceSpace> row(Z.view().data() + (rows - 1) * Z.ld(), 1, 8,
                                                  Z.ld());
    fetch<double>(context(), row, found.view());
    return found.view()(0, 0);
  };
  for (int round = 1; round <= 5; ++round) {
    for (int k = 0; k < 20; ++k) set_zero(other, X.view());
    fill_random(other, static_cast<std::uint64_t>(round), 0, X.view());
    context().wait_for(other.stream());
    copy(context(), std::as_const(X).view(), Y.view());
    context().let_wait(other.stream());
    set_zero(other, X.view());  // must not overtake the copy
    const double copied = last(Y);
    other.synchronize();
    fill_random(other, static_cast<std::uint64_t>(round), 0, X.view());
    other.synchronize();
    EXPECT_EQ(copied, last(X)) << round;
    EXPECT_NE(copied, 0);
  }
}

TEST_F(CudaContextTest, TimesPhasesOnTheDevice) {
  MultiVector<double, DeviceSpace> X(context(), 1 << 20, 8);
  set_zero(context(), X.view());
  context().synchronize();
  context().profile().reset();
  for (int round = 0; round < 2000; ++round) {  // more changes of phase than are kept unread
    const PhaseScope outer(context(), Phase::orthogonalize);
    const PhaseScope inner(context(), Phase::update);
    set_zero(context(), X.view());
  }
  context().synchronize();
  const Profile& profile = context().profile();
  EXPECT_GT(profile[Phase::update].seconds, profile[Phase::orthogonalize].seconds);
  EXPECT_EQ(profile[Phase::update].bytes, 2000.0 * 8 * 8 * (1 << 20));
  EXPECT_EQ(profile[Phase::spmm].seconds, 0);
}

}  // namespace
}  // namespace heddle
