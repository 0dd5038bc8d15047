// Block CG on the GPU: random right-hand sides, tolerance 1e-8, 7-point Laplacian on an n³ grid.
//
// usage: gpu_block_cg [GRID [COLUMNS]]     default: 100 16

#include <fmt/format.h>

#include <cstdlib>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <memory>
#include <utility>

namespace heddle {
namespace {

void measure(CudaContext& context, const char* name,
             const LinearSystem<double, CudaContext>& system, CgAlgorithm algorithm) {
  BlockCgOptions options;
  options.algorithm = algorithm;
  BlockCgWorkspace<double, CudaContext> workspace;
  for (int run = 0; run < 2; ++run) {  // the first run allocates memory
    context.synchronize();
    const CopyCount copies = context.copy_count();
    const std::size_t allocations = context.allocation_count().allocations;
    const auto begin = Clock::now();
    const auto& result = block_cg(context, system, options, workspace);
    context.synchronize();
    const double seconds = seconds_since(begin);
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

/// The object that `make` returns, and the seconds that the call takes: the first time, which loads
/// kernels and grows the memory pool, and the second time.
template <class Make>
auto set_up(CudaContext& context, const char* name, const Make& make) {
  const auto timed = [&] {
    context.synchronize();
    const auto begin = Clock::now();
    auto made = make();
    context.synchronize();
    const double passed = seconds_since(begin);
    return std::pair(std::move(made), passed);
  };
  const double first = timed().second;
  auto [made, second] = timed();
  fmt::print("setup {:<14} {:.4f} s, the first {:.4f} s\n", name, second, first);
  return std::move(made);
}

void measure_all(Index grid, Index columns) {
  HostContext host;
  CudaContext context;
  using Operator = SparseOperator<double, CudaContext>;
  const HostCsrMatrix<double> matrix = generate<double>(host, {"laplace3d", {grid, grid, grid}});
  const auto A = set_up(context, "A, copied", [&] {
    const CsrView<double, HostSpace> view = matrix.view();
    return std::make_unique<Operator>(context, place(context, convert<double>(host, view)));
  });
  const auto made = [&](const char* title, const char* name, const OptionValues& options) {
    return set_up(context, title,
                  [&] { return make_preconditioner<double>(context, name, A->matrix(), options); });
  };
  const auto chebyshev = made("chebyshev", "chebyshev", {});
  const auto exact = made("ic0", "incomplete_cholesky", {{"triangular_solve", "levels"}});
  const auto iterated =
      made("ic0 iterated", "incomplete_cholesky", {{"triangular_solve", "iterated"}});
  MultiVector<double, DeviceSpace> B(context, A->rows(), columns);
  fill_random(context, 42, 0, B.view());
  fmt::print("laplace3d {}³, {} right-hand sides\n", grid, columns);
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    measure(context, "none", {A.get(), nullptr, B.view()}, algorithm);
    measure(context, "chebyshev", {A.get(), chebyshev.get(), B.view()}, algorithm);
    measure(context, "ic0", {A.get(), exact.get(), B.view()}, algorithm);
    measure(context, "ic0 iterated", {A.get(), iterated.get(), B.view()}, algorithm);
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  heddle::measure_all(argc > 1 ? std::atoll(argv[1]) : 100, argc > 2 ? std::atoll(argv[2]) : 16);
}
