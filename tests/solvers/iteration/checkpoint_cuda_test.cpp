#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <utility>

#include "solvers/iteration/checkpoint_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

class CheckpointCuda : public test::CudaTest {
 protected:
  SparseOperator<double, CudaContext> laplace() {
    return {context(), place(context(), generate<double>(host_, {"laplace2d", {31, 33}}))};
  }

  template <class Solver, class Options>
  void expect_resumes(const Solver& solver, Options options) {
    auto A = laplace();
    test::expect_resumes_with_the_same_bits(
        [&](const CheckpointOptions& checkpoint, const Monitor& monitor) {
          options.checkpoint = checkpoint;
          auto result = solver(context(), EigenProblem<double, CudaContext>{&A}, options, monitor);
          const auto vectors = fetch(context(), host_, std::move(result.eigenvectors));
          return test::outcome_of<double, DeviceSpace>(result, vectors.view());
        });
  }

  void expect_system_resumes(CgAlgorithm algorithm) {
    auto A = laplace();
    JacobiPreconditioner<double, CudaContext> M(context(), A.matrix());
    MultiVector<double, DeviceSpace> B(context(), A.rows(), 5);
    fill_random<double>(context(), 3, 0, B.view());
    test::expect_resumes_with_the_same_bits([&](const CheckpointOptions& checkpoint,
                                                const Monitor& monitor) {
      BlockCgOptions options;
      options.algorithm = algorithm;
      options.refresh_interval = 9;
      options.checkpoint = checkpoint;
      auto result = block_cg<double, CudaContext>(context(), {&A, &M, B.view()}, options, monitor);
      const auto solution = fetch(context(), host_, std::move(result.solution));
      return test::outcome_of<double, DeviceSpace>(result, solution.view());
    });
  }

  HostContext host_;
};

TEST_F(CheckpointCuda, Lobpcg) {
  LobpcgOptions options;
  options.nev = 24;
  options.block_size = 8;
  expect_resumes([](auto&&... all) { return lobpcg<double, CudaContext>(all...); }, options);
}

TEST_F(CheckpointCuda, BlockLanczos) {
  BlockLanczosOptions options;
  options.nev = 6;
  options.which = Which::largest;
  options.block_size = 4;
  options.max_basis = 24;
  expect_resumes([](auto&&... all) { return block_lanczos<double, CudaContext>(all...); }, options);
}

TEST_F(CheckpointCuda, BlockCg) { expect_system_resumes(CgAlgorithm::breakdown_free); }

TEST_F(CheckpointCuda, PseudoBlockCg) { expect_system_resumes(CgAlgorithm::pseudo_block); }

}  // namespace
}  // namespace heddle
