// Multigrid on the GPU: seconds of each step of the setup, of the preconditioner, of a cycle, and
// of solves with it. The second of two runs is reported, as the first one loads kernels and
// allocates.
//
// usage: gpu_multigrid STRUCTURE SIZE [--pairs n] [--columns n] [--host]
//   as: gpu_multigrid laplace3d 100 --pairs 16 --columns 16

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/coordinates.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/rigid_body_motions.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <heddle/spmm/features/features_cuda.hpp>
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

/// Milliseconds of each step of the setup, by level.
class StepTable {
 public:
  explicit StepTable(CudaContext& context) : context_(&context) {}
  StepTable(const StepTable&) = delete;

  ~StepTable() {
    for (const auto& [name, milliseconds] : rows_) {
      fmt::print("    {:<22}", name);
      for (const double value : milliseconds) fmt::print(" {:>8.3f}", value);
      fmt::print("\n");
    }
  }

  template <class Body>
  auto operator()(const char* name, const Body& body) {
    auto timed = timed_twice(*context_, body);
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const auto& row) { return row.first == name; });
    auto& row = found != rows_.end() ? *found : rows_.emplace_back(name, std::vector<double>());
    row.second.push_back(timed.second * 1e3);
    return std::move(timed.made);
  }

 private:
  CudaContext* context_;
  std::vector<std::pair<std::string, std::vector<double>>> rows_;
};

using DeviceGrid = detail::Grid<DeviceSpace>;

/// The next coarser grid, each step timed.
DeviceGrid time_level(CudaContext& context, StepTable& step, const DeviceGrid& grid,
                      double threshold) {
  const CsrView<double, DeviceSpace> A = grid.A.view();
  const auto bounds =
      step("Lanczos bounds", [&] { return detail::lanczos_bounds<double>(context, A); });
  step("norm", [&] { return detail::symmetric_norm(context, A); });
  const auto strong = step("strong connections",
                           [&] { return detail::strong_connections(context, grid, threshold); });
  const auto aggregates = step("aggregates", [&] { return detail::aggregate(context, strong); });
  auto tentative = step("tentative prolongator",
                        [&] { return detail::tentative_prolongator(context, grid, aggregates); });
  auto P = step("smoothed prolongator", [&] {
    return detail::smoothed_prolongator(context, grid, strong, tentative.T.view(), bounds.upper);
  });
  auto Pt = step("transposition", [&] { return transpose<double>(context, P.view()); });
  const auto AP = step("A P", [&] { return spgemm<double>(context, A, P.view()); });
  const auto product =
      step("Pt (A P)", [&] { return spgemm<double>(context, Pt.view(), AP.view()); });
  DeviceGrid coarse;
  coarse.A = step("copy", [&] { return with_stored_diagonal<double>(context, product.view()); });
  auto s = step("diagonal", [&] { return extract_diagonal<double>(context, product.view()); });
  detail::to_unit_scaling(context, s);
  scale_symmetrically(context, s, coarse.A);
  detail::scale_coarse_side(context, s, P, Pt, tentative.near_null.view());
  coarse.near_null = std::move(tentative.near_null);
  coarse.nodes = std::move(tentative.nodes);
  const auto single = step("in single precision", [&] { return convert<float>(context, A); });
  step("features", [&] { return detail::cuda::device_features(context, single.view()); });
  step("product plan", [&] {
    return std::make_unique<SpmmPlan<float, CudaContext>>(context, single.view(), SpmmOptions{});
  });
  return coarse;
}

/// The steps of all levels.
void time_setup(CudaContext& context, CsrView<double, DeviceSpace> A,
                ConstBlockView<double, HostSpace> motions) {
  StepTable step(context);
  const Index unknowns = step("unknowns", [&] { return detail::unknowns_per_node(context, A); });
  auto s = extract_diagonal<double>(context, A);
  detail::to_unit_scaling(context, s);
  const Index m = motions.empty() ? unknowns : motions.cols();
  DeviceGrid grid;
  grid.near_null =
      step("near null vectors", [&] { return detail::near_null_vectors(context, m, motions, s); });
  grid.A = with_stored_diagonal<double>(context, A);
  scale_symmetrically(context, s, grid.A);
  grid.nodes = detail::equal_nodes(context, A.rows, unknowns);
  while (grid.A.rows() > 300) grid = time_level(context, step, grid, m > 1 ? 0 : 0.08);
  step("coarsest inverse", [&] { return detail::coarse_inverse(context, grid.A.view(), false); });
}

void print_phases(const Profile& profile) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Phase phase = static_cast<Phase>(i);
    if (profile[phase].seconds == 0) continue;
    fmt::print("    {:<16} {:>9.3f} ms\n", phase_name(phase), profile[phase].seconds * 1e3);
  }
}

template <class Ctx>
void solve_eigenproblem(Ctx& context, LinearOperator<double, Ctx>& A,
                        Preconditioner<double, Ctx>& M, Index pairs) {
  EigenProblem<double, Ctx> problem;
  problem.A = &A;
  problem.preconditioner = &M;
  LobpcgOptions options;
  options.nev = pairs;
  options.criterion = Criterion::norm;
  LobpcgWorkspace<double, Ctx> workspace;
  lobpcg(context, problem, options, workspace);
  context.synchronize();
  context.profile().reset();
  const auto begin = Clock::now();
  const auto& result = lobpcg(context, problem, options, workspace);
  context.synchronize();
  fmt::print("  LOBPCG, {} pairs: {} after {} iterations, {:.4f} s\n", pairs,
             status_name(result.status), result.iterations, seconds_since(begin));
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
  if constexpr (!std::same_as<Space, HostSpace>) time_setup(context, A.matrix(), motions.view());

  const Index width = std::max<Index>(asked.columns, 16);
  MultiVector<double, Space> X(context, A.rows(), width), Y(context, A.rows(), width);
  fill_random(context, 42, 0, X.view());
  const double cycles = timed_twice(context, [&] {
                          for (int k = 0; k < 10; ++k) M.get()->apply(context, X.view(), Y.view());
                          return 0;
                        }).second;
  fmt::print("  cycle of {} columns: {:.3f} ms\n", width, cycles * 100);

  if (asked.pairs > 0) solve_eigenproblem(context, A, *M.get(), asked.pairs);
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
