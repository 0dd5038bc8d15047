// Block CG on the GPU: random right-hand sides to 1e-8 on the 7-point Laplacian of an n³ grid.
//
// usage: gpu_block_cg [GRID [COLUMNS]]     default: 100 16

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/gallery.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/block_cg.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky.hpp>
#include <heddle/solvers/sparse_operator.hpp>

namespace heddle {
namespace {

void measure(CudaContext& context, const char* name,
             const LinearSystem<double, CudaContext>& system, CgAlgorithm algorithm) {
  BlockCgOptions options;
  options.algorithm = algorithm;
  BlockCgWorkspace<double, CudaContext> workspace;
  for (int run = 0; run < 2; ++run) {  // the first one allocates
    context.synchronize();
    const CopyCount copies = context.copy_count();
    const std::size_t allocations = context.allocation_count().allocations;
    const auto begin = std::chrono::steady_clock::now();
    const auto& result = block_cg(context, system, options, workspace);
    context.synchronize();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (run == 0) continue;
    const double iterations = static_cast<double>(std::max<Index>(1, result.iterations));
    fmt::print(
        "{:<14} {:<12} {}: {} iterations, {:.4f} s, {:.4f} ms an iteration, {:.2f} copies to the "
        "host an iteration, {} allocations\n",
        name, algorithm == CgAlgorithm::breakdown_free ? "block" : "pseudo-block",
        status_name(result.status), result.iterations, seconds, seconds * 1e3 / iterations,
        static_cast<double>(context.copy_count().to_host - copies.to_host) / iterations,
        context.allocation_count().allocations - allocations);
  }
}

void measure_all(Index grid, Index columns) {
  HostContext host;
  CudaContext context;
  SparseOperator<double, CudaContext> A(
      context, place(context, generate<double>(host, {"laplace3d", {grid, grid, grid}})));
  MultiVector<double, DeviceSpace> B(context, A.rows(), columns);
  fill_random(context, 42, 0, B.view());
  ChebyshevPreconditioner<double, CudaContext> chebyshev(context, A.matrix());
  IncompleteCholeskyPreconditioner<double, CudaContext> exact(context, A.matrix(),
                                                              TriangularSolve::level_scheduled);
  IncompleteCholeskyPreconditioner<double, CudaContext> iterated(context, A.matrix(),
                                                                 TriangularSolve::iterated);
  fmt::print("laplace3d {}³, {} right-hand sides\n", grid, columns);
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    measure(context, "none", {&A, nullptr, B.view()}, algorithm);
    measure(context, "chebyshev", {&A, &chebyshev, B.view()}, algorithm);
    measure(context, "ic0", {&A, &exact, B.view()}, algorithm);
    measure(context, "ic0 iterated", {&A, &iterated, B.view()}, algorithm);
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  heddle::measure_all(argc > 1 ? std::atoll(argv[1]) : 100, argc > 2 ? std::atoll(argv[2]) : 16);
}
