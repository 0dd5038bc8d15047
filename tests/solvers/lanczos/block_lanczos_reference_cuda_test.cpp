#include "solvers/lanczos/block_lanczos_reference.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

class CudaBlockLanczosReference : public test::CudaTest {
 protected:
  void solve_all(Which which, LanczosFilter filter) {
    const auto rows = test::references(which);
    if (!rows) GTEST_SKIP() << "no matrix folder with a reference table beside it";
    for (const auto& reference : *rows) {
      test::solve_by_lanczos_and_compare(context(), reference, filter);
    }
  }
};

TEST_F(CudaBlockLanczosReference, EveryValueAtTheSmallestEndIsFound) {
  solve_all(Which::smallest, LanczosFilter::automatic);
}

TEST_F(CudaBlockLanczosReference, EveryValueAtTheLargestEndIsFoundDirectly) {
  solve_all(Which::largest, LanczosFilter::none);
}

}  // namespace
}  // namespace heddle
