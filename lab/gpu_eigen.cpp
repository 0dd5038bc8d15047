// Eigensolvers on the GPU on generated matrices: time and traffic by phase, of a second solve that
// allocates nothing.
//
// usage: gpu_eigen lobpcg|lanczos STRUCTURE SIZE [options]   as: gpu_eigen lobpcg laplace3d 100 -n
// 16
//   LOBPCG finds the smallest pairs, block Lanczos the largest.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <map>
#include <string>
#include <string_view>

namespace heddle {
namespace {

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
  const auto begin = Clock::now();
  const auto& result = solve();
  context.synchronize();
  const double seconds = seconds_since(begin);
  const double iterations = static_cast<double>(std::max<Index>(1, result.iterations));
  fmt::print(
      "{}: {} after {} iterations, {} columns multiplied by A, {:.3f} s, {:.4f} ms an iteration, "
      "{} copies to the host and {} allocations\n",
      title, status_name(result.status), result.iterations, result.operator_applications, seconds,
      seconds * 1e3 / iterations, context.copy_count().to_host - copies.to_host,
      context.allocation_count().allocations - allocations);
  print_phases(context.profile());
}

struct Case {
  std::string solver;
  std::string structure;
  Index size = 0;
  double density = 0;
  std::string degree = "none";
  std::string precision = "single";
  EigenOptions options;
};

/// A Chebyshev preconditioner, none for the degree "none".
template <Scalar T>
std::unique_ptr<Preconditioner<T, CudaContext>> chebyshev(CudaContext& context,
                                                          CsrView<T, DeviceSpace> A,
                                                          const Case& asked) {
  const std::string& degree = asked.degree;
  if (degree == "none") return nullptr;
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const OptionValue value = degree == "auto" ? OptionValue(degree) : OptionValue(std::stol(degree));
  PreconditionerOptions options = kind.options({{"degree", value}});
  if constexpr (RealScalar<T>) {
    if (asked.precision == "double") return kind.make<T>(context, A, options);
    options.set_products(*find_precision(asked.precision));
    return kind.make_lowered(context, A, options);
  } else {
    return kind.make<T>(context, A, options);
  }
}

template <Scalar T>
void run(const Case& asked) {
  using Result = EigenResult<T, DeviceSpace>;
  HostContext host;
  CudaContext context;
  SparseOperator<T, CudaContext> A(
      context, place(context, generate<T>(host, {asked.structure,
                                                 {asked.size, asked.size, asked.size},
                                                 asked.density})));
  const auto M = chebyshev<T>(context, A.matrix(), asked);
  EigenProblem<T, CudaContext> problem;
  problem.A = &A;
  const std::string title = fmt::format("{} {} {}³, {} pairs", asked.solver, asked.structure,
                                        asked.size, asked.options.nev);
  if (asked.solver == "lanczos") {
    BlockLanczosOptions options{asked.options};
    options.which = Which::largest;
    BlockLanczosWorkspace<T, CudaContext> workspace;
    measure(context, title, [&]() -> const Result& {
      return block_lanczos<T>(context, problem, options, workspace);
    });
  } else {
    problem.preconditioner = M.get();
    LobpcgWorkspace<T, CudaContext> workspace;
    measure(context, title, [&]() -> const Result& {
      return lobpcg<T>(context, problem, LobpcgOptions{asked.options}, workspace);
    });
    if (const auto report = M ? report_of(*M) : std::nullopt) {
      fmt::print("  the precision of the preconditioner: {}\n", report->precision);
    }
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) try {
  heddle::Case asked;
  asked.options.nev = 16;
  asked.options.max_iterations = 5000;
  CLI::App app("Eigensolvers on the GPU: seconds and traffic by phase");
  app.add_option("solver", asked.solver)->required()->check(CLI::IsMember({"lobpcg", "lanczos"}));
  app.add_option("structure", asked.structure, "of three equal sizes")->required();
  app.add_option("size", asked.size)->required();
  app.add_option("--density", asked.density, "of the structure, such as the flux of peierls3d");
  app.add_option("-n,--nev", asked.options.nev);
  app.add_option("--block-size", asked.options.block_size, "0: chosen from nev");
  app.add_option("--degree", asked.degree, "of LOBPCG's Chebyshev preconditioner, auto or none");
  app.add_option("--precision", asked.precision, "of the preconditioner")
      ->check(CLI::IsMember({"double", "single", "half", "bf16", "tf32"}));
  app.add_option("--criterion", asked.options.criterion)
      ->transform(CLI::Transformer(std::map<std::string, heddle::Criterion>{
          {"eigenvalue", heddle::Criterion::eigenvalue}, {"norm", heddle::Criterion::norm}}));
  CLI11_PARSE(app, argc, argv);
  if (heddle::is_complex_structure(asked.structure)) {
    heddle::run<std::complex<double>>(asked);
  } else {
    heddle::run<double>(asked);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
