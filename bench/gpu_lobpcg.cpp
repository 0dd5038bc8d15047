// LOBPCG on the GPU: the smallest pairs of the 7-point Laplacian on an n³ grid, time and traffic by
// phase.
//
// usage: gpu_lobpcg [GRID [NEV [BLOCK [DEGREE]]]]
//   default: 100 16 0 0; block 0: chosen from NEV, degree 0: no Chebyshev preconditioner

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <heddle/linalg/gallery.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/lobpcg.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <heddle/solvers/sparse_operator.hpp>
#include <optional>

namespace heddle {
namespace {

void print_phases(const Profile& profile, double iterations) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Phase phase = static_cast<Phase>(i);
    const PhaseTotals& totals = profile[phase];
    fmt::print("  {:<16} {:>9.4f} ms an iteration {:>8.0f} GB/s {:>8.0f} GFLOP/s\n",
               phase_name(phase), totals.seconds * 1e3 / iterations,
               totals.seconds > 0 ? totals.bytes / totals.seconds * 1e-9 : 0,
               totals.seconds > 0 ? totals.flops / totals.seconds * 1e-9 : 0);
  }
}

void measure(Index grid, int degree, const LobpcgOptions& options) {
  HostContext host;
  CudaContext context;
  SparseOperator<double, CudaContext> A(
      context, place(context, generate<double>(host, {"laplace3d", {grid, grid, grid}})));
  std::optional<ChebyshevPreconditioner<double, CudaContext>> M;
  if (degree > 0) M.emplace(context, A.matrix(), degree);
  const EigenProblem<double, CudaContext> problem{&A, nullptr, M ? &*M : nullptr};
  LobpcgWorkspace<double, CudaContext> workspace;
  for (int run = 0; run < 2; ++run) {  // the first one allocates
    context.synchronize();
    context.profile().reset();
    const CopyCount copies = context.copy_count();
    const std::size_t allocations = context.allocation_count().allocations;
    const auto begin = std::chrono::steady_clock::now();
    const auto& result = lobpcg(context, problem, options, workspace);
    context.synchronize();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double iterations = static_cast<double>(std::max<Index>(1, result.iterations));
    fmt::print(
        "laplace3d {}³, {} pairs: {} after {} iterations, {:.3f} s, {:.4f} ms an iteration, "
        "{:.1f} copies to the host and {} allocations\n",
        grid, options.nev, status_name(result.status), result.iterations, seconds,
        seconds * 1e3 / iterations,
        static_cast<double>(context.copy_count().to_host - copies.to_host) / iterations,
        context.allocation_count().allocations - allocations);
    print_phases(context.profile(), iterations);
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  const auto argument = [&](int i, heddle::Index otherwise) {
    return argc > i ? static_cast<heddle::Index>(std::atoll(argv[i])) : otherwise;
  };
  heddle::LobpcgOptions options;
  options.nev = argument(2, 16);
  options.block_size = argument(3, 0);
  options.max_iterations = 5000;
  heddle::measure(argument(1, 100), static_cast<int>(argument(4, 0)), options);
}
