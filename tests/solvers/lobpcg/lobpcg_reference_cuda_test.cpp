#include "solvers/lobpcg/lobpcg_reference.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

class CudaLobpcgReference : public test::CudaTest {
 protected:
  void solve_all(Which which) {
    const auto rows = test::references(which);
    if (!rows) GTEST_SKIP() << "no matrix folder with a reference table beside it";
    for (const test::Reference& reference : *rows) test::solve_and_compare(context(), reference);
  }
};

TEST_F(CudaLobpcgReference, EverySmallestValueOfTheTableIsFound) { solve_all(Which::smallest); }

TEST_F(CudaLobpcgReference, EveryLargestValueOfTheTableIsFound) { solve_all(Which::largest); }

}  // namespace
}  // namespace heddle
