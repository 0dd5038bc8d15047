// Multigrid on the GPU: seconds of the setup of each level, of the preconditioner, of a cycle, and
// of solves with it. A profiler (nsys) shows the steps of a level. The second of two runs is
// reported, as the first one loads kernels and allocates.
//
// usage: gpu_multigrid STRUCTURE SIZE [--pairs n] [--block b] [--mass] [--columns n] [--host]
//   as: gpu_multigrid laplace3d 100 --pairs 16 --columns 16

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

struct Case {
  std::string structure;
  Index size = 0;
  Index pairs = 0;
  Index columns = 0;
  Index block = 0;
  bool mass = false;
  bool on_host = false;
};

/// The result of the second call of `body`, and the seconds of both.
template <class T>
struct Timed {
  T made;
  double first = 0;
  double second = 0;
};

template <class Ctx, class Body>
auto timed_twice(Ctx& context, const Body& body) {
  const auto now = [&] {
    context.synchronize();
    return Clock::now();
  };
  const auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const auto begin = now();
  (void)body();
  const auto middle = now();
  auto made = body();
  const auto end = now();
  return Timed<decltype(made)>{std::move(made), seconds(middle - begin), seconds(end - middle)};
}

void print_phases(const Profile& profile) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Phase phase = static_cast<Phase>(i);
    if (profile[phase].seconds == 0) continue;
    fmt::print("    {:<16} {:>9.3f} ms\n", phase_name(phase), profile[phase].seconds * 1e3);
  }
}

template <class Ctx>
void solve_eigenproblem(Ctx& context, const EigenProblem<double, Ctx>& problem, const Case& asked,
                        StartVectors start) {
  LobpcgOptions options;
  options.nev = asked.pairs;
  options.block_size = asked.block;
  options.criterion = Criterion::norm;
  options.start = start;
  LobpcgWorkspace<double, Ctx> workspace;
  lobpcg(context, problem, options, workspace);
  context.synchronize();
  context.profile().reset();
  const auto begin = Clock::now();
  const auto& result = lobpcg(context, problem, options, workspace);
  context.synchronize();
  fmt::print("  LOBPCG, {} pairs, start {}: {} after {} iterations, {:.4f} s\n", asked.pairs,
             start == StartVectors::nested ? "nested" : "random", status_name(result.status),
             result.iterations, seconds_since(begin));
  print_phases(context.profile());
}

template <class Ctx>
void solve_systems(Ctx& context, const LinearSystem<double, Ctx>& system) {
  BlockCgWorkspace<double, Ctx> workspace;
  block_cg(context, system, BlockCgOptions{}, workspace);
  context.synchronize();
  const auto begin = Clock::now();
  const auto& result = block_cg(context, system, BlockCgOptions{}, workspace);
  context.synchronize();
  fmt::print("  block CG, {} columns: {} after {} iterations, {:.4f} s\n", system.B.cols(),
             status_name(result.status), result.iterations, seconds_since(begin));
}

template <class Ctx>
void run(Ctx& context, const Case& asked) {
  using Space = typename Ctx::Space;
  HostContext host;
  const GallerySpec spec{asked.structure, {asked.size, asked.size, asked.size}};
  const HostCsrMatrix<double> matrix = generate<double>(host, spec);
  const auto coordinates = node_coordinates(host, spec);
  MultiVector<double, HostSpace> motions;
  if (coordinates.rows() > 0) motions = rigid_body_motions(host, coordinates.view(), 3);
  SparseOperator<double, Ctx> A(context, place(context, convert<double>(host, matrix.view())));
  fmt::print("{} {}³ on the {}: {} rows, {} entries\n", asked.structure, asked.size,
             asked.on_host ? "host" : "GPU", matrix.rows(), matrix.nnz());

  const PreconditionerKind& kind = preconditioner_table().get("multigrid");
  PreconditionerOptions options = kind.options({});
  options.set_near_null({.vectors = motions.view()});
  const std::size_t before = context.allocation_count().live_bytes;
  const auto timed =
      timed_twice(context, [&] { return kind.make_lowered(context, A.matrix(), options); });
  const auto& M = timed.made;
  const double bytes = static_cast<double>(matrix.nnz()) * 12 + static_cast<double>(A.rows()) * 8;
  fmt::print("  setup {:.4f} s, the first one {:.4f} s, at most {:.2f} times the bytes of A\n",
             timed.second, timed.first,
             static_cast<double>(context.allocation_count().peak_bytes - before) / bytes);
  for (const OperatorLevel& level : M->levels()) {
    fmt::print("    {:>10} rows {:>11} entries {:>9} aggregates {:.4f} s\n", level.rows, level.nnz,
               level.aggregates, level.seconds);
  }

  const Index width = std::max<Index>(asked.columns, 16);
  MultiVector<double, Space> X(context, A.rows(), width), Y(context, A.rows(), width);
  fill_random(context, 42, 0, X.view());
  const double cycles = timed_twice(context, [&] {
                          for (int k = 0; k < 10; ++k) M.get()->apply(context, X.view(), Y.view());
                          return 0;
                        }).second;
  fmt::print("  cycle of {} columns: {:.3f} ms\n", width, cycles * 100);

  if (asked.pairs > 0) {
    std::optional<SparseOperator<double, Ctx>> B;
    if (asked.mass) {
      const GallerySpec mass{asked.structure + "_mass", spec.size};
      B.emplace(context, place(context, generate<double>(host, mass)));
    }
    const EigenProblem<double, Ctx> problem{
        .A = &A, .B = B ? &*B : nullptr, .preconditioner = M.get()};
    for (const StartVectors start : {StartVectors::random, StartVectors::nested}) {
      solve_eigenproblem(context, problem, asked, start);
    }
  }
  if (asked.columns > 0) {
    const auto exact = kind.make<double>(context, A.matrix(), options);
    solve_systems<Ctx>(context, {&A, exact.get(), X.view()});
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) try {
  heddle::Case asked;
  CLI::App app("Multigrid on the GPU: seconds of its setup and of solves with it");
  app.add_option("structure", asked.structure, "of three equal sizes")->required();
  app.add_option("size", asked.size)->required();
  app.add_option("--pairs", asked.pairs, "of LOBPCG, 0: no solve");
  app.add_flag("--mass", asked.mass, "with the mass matrix of the structure");
  app.add_option("--block", asked.block, "columns of LOBPCG, 0: its default");
  app.add_option("--columns", asked.columns, "of block CG, 0: no solve");
  app.add_flag("--host", asked.on_host, "on the host instead");
  CLI11_PARSE(app, argc, argv);
  if (asked.on_host) {
    heddle::HostContext context;
    heddle::run(context, asked);
  } else {
    heddle::CudaContext context;
    heddle::run(context, asked);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
