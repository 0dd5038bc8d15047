#pragma once

#include <apps/solver_process.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>

namespace heddle::apps::test {

/// A test of heddle-cg.
class LinearSystemProcess : public SolverProcess {
 protected:
  LinearSystemProcess() : SolverProcess("heddle-cg") {}

  /// The block that `solve` left in solution.mtx. It must not outlive the test.
  MultiVector<double, HostSpace> solution() {
    return read_matrix_market_block<double>(context_,
                                            folder_.path() / "results/case-block_cg/solution.mtx");
  }

 private:
  HostContext context_{1};
};

}  // namespace heddle::apps::test
