#include "drivers/host_detour_battery.hpp"
#include "drivers/resident_battery.hpp"

namespace heddle {
namespace {

/// Skips where there is no GPU. The device of the test is then the host.
class NeedsGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }
};

struct OnGpu {
  using Context = CudaContext;
  using Fixture = NeedsGpu;
  static constexpr DeviceChoice kDevice = DeviceChoice::automatic;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, ResidentSolve, ::testing::Types<OnGpu>);
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, HostDetour, ::testing::Types<OnGpu>);

/// A large matrix enters a solve where it lies: the solve copies no array of its size to the host,
/// and holds no second copy.
TEST(ResidentSolveOnGpu, CopiesNoMatrix) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  Device device(DeviceChoice::cuda, 1);
  HostCsrMatrix<double> made =
      generate<double>(device.host(), {.name = "laplace3d", .size = {80, 80, 80}});
  device.with_context([&]<class Ctx>(Ctx& context) {
    if constexpr (std::same_as<Ctx, CudaContext>) {
      const CsrMatrix<double, DeviceSpace> A = place(context, std::move(made));
      const auto bytes = static_cast<std::size_t>(A.nnz()) * sizeof(double);
      Request request{.method = Method::lobpcg, .nev = 2, .max_iterations = 3};
      request.preconditioner.type = "jacobi";
      const CopyCount before = context.copy_count();
      const auto found = solve<double, CudaContext>(
          device, {.A = ResidentMatrix<double, CudaContext>(A.view())}, request);
      EXPECT_LT(context.copy_count().bytes_to_host - before.bytes_to_host, bytes / 10);
      EXPECT_LT(context.copy_count().bytes_to_device - before.bytes_to_device, bytes / 10);
      EXPECT_EQ(found.vectors.rows(), 512'000);
      request.method = Method::block_cg;
      request.nev = Request{}.nev;
      const auto solved = solve<double, CudaContext>(
          device,
          {.A = ResidentMatrix<double, CudaContext>(A.view()), .rhs = found.vectors.columns(0, 2)},
          request);
      EXPECT_LT(context.copy_count().bytes_to_host - before.bytes_to_host, bytes / 10);
      EXPECT_LT(context.copy_count().bytes_to_device - before.bytes_to_device, bytes / 10);
      EXPECT_EQ(solved.vectors.cols(), 2);
    }
  });
}

/// The example of docs/library.md.
TEST(ResidentSolveOnGpu, ExampleOfTheLibraryPage) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  CudaContext context;
  HostContext host;
  const CsrMatrix<double, DeviceSpace> made =
      place(context, generate<double>(host, {.name = "laplace1d", .size = {3000}}));
  context.synchronize();
  const Index n = made.rows();
  const Index nnz = made.nnz();
  const auto [row_offsets, columns, values] =
      std::tuple(made.view().row_offsets, made.view().columns, made.view().values);
  heddle::Device device(heddle::DeviceChoice::cuda);
  const heddle::CsrView<double, heddle::DeviceSpace> view{n, n, nnz, row_offsets, columns, values};
  const heddle::ResidentMatrix<double, heddle::CudaContext> A(view);
  const auto found = heddle::solve<double, heddle::CudaContext>(device, {.A = A}, {.nev = 10});
  found.vectors.view();  // in device memory
  EXPECT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
  EXPECT_EQ(found.vectors.rows(), 3000);
  EXPECT_EQ(found.vectors.cols(), 10);
}

}  // namespace
}  // namespace heddle
