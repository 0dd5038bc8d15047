// Eigensolvers on the GPU: pairs of the 7-point Laplacian on an n³ grid, time and traffic by phase.
//
// usage: gpu_eigen lobpcg|lanczos [GRID [NEV [BLOCK [DEGREE [single|double]]]]]
//   LOBPCG finds the smallest pairs, block Lanczos the largest; default: 100 16 0 0 single. Block
//   0: chosen from NEV; degree: of LOBPCG's Chebyshev preconditioner, 0 for none, and its precision

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <string_view>

namespace heddle {
namespace {

using Problem = EigenProblem<double, CudaContext>;
using Result = EigenResult<double, DeviceSpace>;

void print_phases(const Profile& profile) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Phase phase = static_cast<Phase>(i);
    const PhaseTotals& totals = profile[phase];
    if (totals.seconds == 0) continue;
    fmt::print("  {:<16} {:>9.4f} ms {:>8.0f} GB/s {:>8.0f} GFLOP/s\n", phase_name(phase),
               totals.seconds * 1e3, totals.bytes / totals.seconds * 1e-9,
               totals.flops / totals.seconds * 1e-9);
  }
}

/// Solves twice, the first time to allocate, and reports the second.
template <class Solve>
void measure(CudaContext& context, std::string_view title, const Solve& solve) {
  solve();
  context.synchronize();
  context.profile().reset();
  const CopyCount copies = context.copy_count();
  const std::size_t allocations = context.allocation_count().allocations;
  const auto begin = std::chrono::steady_clock::now();
  const Result& result = solve();
  context.synchronize();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double iterations = static_cast<double>(std::max<Index>(1, result.iterations));
  fmt::print(
      "{}: {} after {} iterations, {} columns multiplied by A, {:.3f} s, {:.4f} ms an iteration, "
      "{} copies to the host and {} allocations\n",
      title, status_name(result.status), result.iterations, result.operator_applications, seconds,
      seconds * 1e3 / iterations, context.copy_count().to_host - copies.to_host,
      context.allocation_count().allocations - allocations);
  print_phases(context.profile());
}

/// A Chebyshev preconditioner, none for degree 0.
MadePreconditioner<double, CudaContext> chebyshev(CudaContext& context,
                                                  CsrView<double, DeviceSpace> A, Index degree,
                                                  bool lowered) {
  if (degree == 0) return {nullptr, SetupCost(context)};
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const PreconditionerOptions options = kind.options({{"degree", degree}});
  return lowered ? kind.make_lowered(context, A, options) : kind.make<double>(context, A, options);
}

void run(std::string_view solver, Index grid, Index nev, Index block, Index degree, bool lowered) {
  HostContext host;
  CudaContext context;
  SparseOperator<double, CudaContext> A(
      context, place(context, generate<double>(host, {"laplace3d", {grid, grid, grid}})));
  const auto M = chebyshev(context, A.matrix(), degree, lowered);
  Problem problem;
  problem.A = &A;
  const std::string title = fmt::format("{} laplace3d {}³, {} pairs", solver, grid, nev);
  EigenOptions options;
  options.nev = nev;
  options.block_size = block;
  options.max_iterations = 5000;
  if (solver == "lanczos") {
    BlockLanczosOptions lanczos{options};
    lanczos.which = Which::largest;
    BlockLanczosWorkspace<double, CudaContext> workspace;
    measure(context, title,
            [&]() -> const Result& { return block_lanczos(context, problem, lanczos, workspace); });
  } else {
    problem.preconditioner = M.get();
    LobpcgWorkspace<double, CudaContext> workspace;
    measure(context, title, [&]() -> const Result& {
      return lobpcg(context, problem, LobpcgOptions{options}, workspace);
    });
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  const std::string_view solver = argc > 1 ? argv[1] : "";
  if (solver != "lobpcg" && solver != "lanczos") {
    fmt::print(stderr,
               "usage: gpu_eigen lobpcg|lanczos [GRID [NEV [BLOCK [DEGREE [single|double]]]]]\n");
    return 1;
  }
  const auto argument = [&](int i, heddle::Index otherwise) {
    return argc > i ? static_cast<heddle::Index>(std::atoll(argv[i])) : otherwise;
  };
  const bool lowered = argc <= 6 || std::string_view(argv[6]) != "double";
  heddle::run(solver, argument(2, 100), argument(3, 16), argument(4, 0), argument(5, 0), lowered);
}
