#include "solvers/factor/triangular_solves_battery.hpp"

namespace heddle {
namespace {

TEST(TriangularSolvesReference, Bcsstk17) {
  HostContext context(2);
  expect_solves_with_bcsstk17(context);
}

}  // namespace
}  // namespace heddle
