// Y = L⁻ᵀL⁻¹X on the GPU with the incomplete Cholesky factor L of a matrix, double precision:
// substitution with rows that wait for flags and with a launch for each level, Jacobi sweeps, and
// the time that the compulsory traffic takes at the bandwidth of a copy. Before that, the setup of
// the preconditioner by its parts, and the factorisation on the host.
//
// usage: gpu_triangular [MATRIX...]     MATRIX: a Matrix Market file, lapN for the 7-point
// Laplacian
//                                       of an N³ grid, hexN for elasticity on N³ hexahedra
//                                       default: lap100 hex40 hex56

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <heddle/spmm/triangular.hpp>
#include <heddle/spmm/triangular/row_levels.hpp>
#include <string>
#include <vector>

namespace heddle {
namespace {

using Plan = TriangularPlan<double, CudaContext>;
using Block = MultiVector<double, DeviceSpace>;

/// Seconds per call for many calls queued one after the other.
template <class Work>
double seconds_of(CudaContext& context, const Work& work) {
  constexpr int kRuns = 20;
  work();
  context.synchronize();
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto begin = Clock::now();
    for (int run = 0; run < kRuns; ++run) work();
    context.synchronize();
    const double spent = seconds_since(begin);
    best = std::min(best, spent / kRuns);
  }
  return best;
}

/// Bytes per second of a copy, counting both read and written bytes.
double copy_bandwidth(CudaContext& context) {
  const Index n = 20'000'000;
  Block from(context, n, 8), to(context, n, 8);
  set_zero<double>(context, from.view());
  const double bytes = 2.0 * static_cast<double>(n) * 8 * sizeof(double);
  return bytes / seconds_of(context, [&] { copy<double>(context, from.view(), to.view()); });
}

/// Compulsory bytes of one call.
template <class Work>
double bytes_of(CudaContext& context, const Work& work) {
  const auto counted = [&] { return context.profile()[Phase::other].bytes; };
  const double before = counted();
  work();
  return counted() - before;
}

HostCsrMatrix<double> load(HostContext& context, const std::string& name) {
  const Index n = name.size() > 3 ? std::atoll(name.c_str() + 3) : 0;
  if (name.rfind("lap", 0) == 0 && n > 0)
    return generate<double>(context, {"laplace3d", {n, n, n}});
  if (name.rfind("hex", 0) == 0 && n > 0) {
    return generate<double>(context, {"elasticity3d", {n, n, n}});
  }
  return read_matrix_market<double>(context, name);
}

using Matrix = CsrMatrix<double, DeviceSpace>;

/// Milliseconds of the fastest of three calls, each with all work that it queues.
template <class Work>
double setup_ms(CudaContext& context, const Work& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    context.synchronize();
    const auto begin = Clock::now();
    work();
    context.synchronize();
    const double spent = seconds_since(begin);
    best = std::min(best, 1e3 * spent);
  }
  return best;
}

/// Setup of the preconditioner: of the first one in its context, of later ones, and of their parts.
/// Returns the factor.
Matrix measure_setup(CudaContext& context, const std::string& name) {
  using IC = IncompleteCholeskyPreconditioner<double, CudaContext>;
  using RoundedIC = IncompleteCholeskyPreconditioner<float, CudaContext>;
  HostContext host;
  HostCsrMatrix<double> loaded = load(host, name);
  const auto begin = Clock::now();
  const double shift = detail::incomplete_cholesky<double>(host, loaded.view()).shift;
  const double on_host = seconds_since(begin);
  const Matrix placed = place(context, std::move(loaded));
  const CsrView<double, DeviceSpace> A = placed.view();
  const double first = 1e3 * IC(context, A).setup_cost().seconds();
  const double all = setup_ms(context, [&] { IC(context, A); });
  const double rounded = setup_ms(context, [&] { RoundedIC(context, A); });
  const double swept = setup_ms(context, [&] { IC(context, A, TriangularSolve::iterated); });
  const double factored =
      setup_ms(context, [&] { detail::incomplete_cholesky<double>(context, A); });
  auto factor = detail::incomplete_cholesky<double>(context, A);
  const CsrView<double, DeviceSpace> L = factor.L.view();
  const Matrix Lt = transpose(context, L);
  fmt::print("{}: setup, ms: first {:.1f}, later {:.1f}, rounded to single {:.1f}, sweeps {:.1f}\n",
             name, first, all, rounded, swept);
  fmt::print(
      "  factor {:.1f} (levels {:.1f}; {} shifts, σ {:g}), plan of L {:.1f}, transpose {:.1f}, "
      "plan "
      "of Lᵀ {:.1f}; factor on the host {:.0f} (σ {:g})\n",
      factored, setup_ms(context, [&] { detail::cuda::row_levels(context, L, Triangle::lower); }),
      factor.attempts, factor.shift, setup_ms(context, [&] { Plan(context, L, Triangle::lower); }),
      setup_ms(context, [&] { transpose(context, L); }),
      setup_ms(context, [&] { Plan(context, Lt.view(), Triangle::upper); }), 1e3 * on_host, shift);
  return std::move(factor.L);
}

struct Pair {
  Plan lower;
  Plan upper;

  void solve(CudaContext& context, const Block& X, Block& Y) const {
    lower.solve(context, X.view(), Y.view());
    upper.solve(context, Y.view(), Y.view());
  }
};

void measure(CudaContext& context, const std::string& name, double bandwidth) {
  const Matrix factor = measure_setup(context, name);
  const CsrView<double, DeviceSpace> L = factor.view();
  const Matrix Lt = transpose(context, L);
  const auto plans = [&](TriangularSchedule schedule) {
    return Pair{{context, L, Triangle::lower, schedule},
                {context, Lt.view(), Triangle::upper, schedule}};
  };
  const Pair flags = plans(TriangularSchedule::flags);
  const Pair launches = plans(TriangularSchedule::launches);
  fmt::print("{}: n {}, nnz of L {}, {} levels, {:.0f} rows each\n", name, L.rows, L.nnz,
             flags.lower.levels(),
             static_cast<double>(L.rows) / static_cast<double>(flags.lower.levels()));
  detail::IteratedSolves<double, CudaContext> iterated(context, L);
  fmt::print("{:>4} {:>10} {:>10} {:>10} {:>12} {:>10}   ms; {} sweeps\n", "b", "flags", "launches",
             "iterated", "bound", "flags/bound", iterated.sweeps());
  for (const Index b : {1, 8, 16, 32}) {
    Block X(context, Lt.rows(), b), Y(context, Lt.rows(), b);
    fill_random<double>(context, 42, 0, X.view());
    const auto by_flags = [&] { flags.solve(context, X, Y); };
    const double bound = bytes_of(context, by_flags) / bandwidth;
    const double waited = seconds_of(context, by_flags);
    const double launched = seconds_of(context, [&] { launches.solve(context, X, Y); });
    const double swept = seconds_of(context, [&] { iterated.solve(context, X.view(), Y.view()); });
    fmt::print("{:>4} {:>10.4f} {:>10.4f} {:>10.4f} {:>12.4f} {:>10.1f}\n", b, waited * 1e3,
               launched * 1e3, swept * 1e3, bound * 1e3, waited / bound);
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  using namespace heddle;
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"lap100", "hex40", "hex56"};
  CudaContext context;
  const double bandwidth = copy_bandwidth(context);
  fmt::print("{}, copies {:.0f} GB/s\n", context.device().name, bandwidth * 1e-9);
  for (const std::string& name : names) measure(context, name, bandwidth);
}
