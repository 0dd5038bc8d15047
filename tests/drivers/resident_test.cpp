#include "drivers/host_detour_battery.hpp"
#include "drivers/resident_battery.hpp"

namespace heddle {
namespace {

struct OnHost {
  using Context = HostContext;
  using Fixture = testing::Test;
  static constexpr DeviceChoice kDevice = DeviceChoice::host;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Host, ResidentSolve, ::testing::Types<OnHost>);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, HostDetour, ::testing::Types<OnHost>);

TEST(ResidentMatrix, NeedsEntriesOrACallable) {
  using Matrix = ResidentMatrix<double, HostContext>;
  EXPECT_THROW(Matrix(3, 3, Matrix::Apply{}), InvalidArgument);
  EXPECT_THROW(Matrix(-1, 3, [](HostContext&, auto, auto) {}), InvalidArgument);
}

/// The same numbers as from host memory: the same operations on the same data.
TEST(ResidentSolveOnHost, GivesTheBitsOfAProblemInHostMemory) {
  Device device(DeviceChoice::host, 2);
  const Matrix A = Matrix::generate({.name = "laplace2d", .size = {25, 25}});
  const Request request{.method = Method::lobpcg, .nev = 3, .tolerance = 1e-8};
  const Solution expected = solve(device, {.A = A}, request);
  const auto found = solve<double, HostContext>(
      device, {.A = ResidentMatrix<double, HostContext>(A.view())}, request);
  EXPECT_EQ(found.solution.eigenvalues, expected.eigenvalues);
  EXPECT_EQ(found.solution.completeness.name(), expected.completeness.name());
  EXPECT_EQ(found.solution.iterations, expected.iterations);
}

}  // namespace
}  // namespace heddle
