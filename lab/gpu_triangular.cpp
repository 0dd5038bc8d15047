// Y = L⁻ᵀL⁻¹X on the GPU in double precision, L with the pattern of the incomplete Cholesky factor
// of a matrix: substitution with rows that wait for flags and with a launch for each level, and the
// time that the compulsory traffic takes at the bandwidth of a copy. Beside it, the preconditioner
// with exact solves and with Jacobi sweeps. Before that, its setup on the GPU and on the host.
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
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <heddle/spmm/triangular.hpp>
#include <memory>
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

using IncompleteCholesky = std::unique_ptr<Preconditioner<double, CudaContext>>;

IncompleteCholesky make(CudaContext& context, CsrView<double, DeviceSpace> A, const char* solve) {
  return make_preconditioner<double>(context, "incomplete_cholesky", A,
                                     {{"triangular_solve", solve}});
}

/// Setup of the preconditioner: of the first one in its context, of later ones, on the host, and of
/// what it does with a factor L.
void measure_setup(CudaContext& context, const std::string& name, CsrView<double, HostSpace> loaded,
                   CsrView<double, DeviceSpace> A, CsrView<double, DeviceSpace> L) {
  HostContext host;
  const auto on_host = make_preconditioner<double>(host, "incomplete_cholesky", loaded);
  const double first = 1e3 * make(context, A, "levels")->setup_cost().seconds();
  const double all = setup_ms(context, [&] { make(context, A, "levels"); });
  const double swept = setup_ms(context, [&] { make(context, A, "iterated"); });
  const Matrix Lt = transpose(context, L);
  fmt::print("{}: setup, ms: first {:.1f}, later {:.1f}, sweeps {:.1f}; on the host {:.0f}\n", name,
             first, all, swept, 1e3 * on_host->setup_cost().seconds());
  fmt::print("  plan of L {:.1f}, transpose {:.1f}, plan of Lᵀ {:.1f}\n",
             setup_ms(context, [&] { Plan(context, L, Triangle::lower); }),
             setup_ms(context, [&] { transpose(context, L); }),
             setup_ms(context, [&] { Plan(context, Lt.view(), Triangle::upper); }));
}

/// The entries of A on and below the diagonal.
HostCsrMatrix<double> lower_triangle(HostContext& context, CsrView<double, HostSpace> A) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < A.rows; ++i) {
    for (auto e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if (A.columns[e] <= i) entries.push_back({i, A.columns[e], A.values[e]});
    }
  }
  return csr_from_triplets<double>(context, A.rows, A.cols, entries);
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
  HostContext host;
  const HostCsrMatrix<double> loaded = load(host, name);
  const Matrix placed = place(context, convert<double>(host, loaded.view()));
  const Matrix factor = place(context, lower_triangle(host, loaded.view()));
  const CsrView<double, DeviceSpace> L = factor.view();
  const Matrix Lt = transpose(context, L);
  measure_setup(context, name, loaded.view(), placed.view(), L);
  const auto plans = [&](TriangularSchedule schedule) {
    return Pair{{context, L, Triangle::lower, schedule},
                {context, Lt.view(), Triangle::upper, schedule}};
  };
  const Pair flags = plans(TriangularSchedule::flags);
  const Pair launches = plans(TriangularSchedule::launches);
  fmt::print("{}: n {}, nnz of L {}, {} levels, {:.0f} rows each\n", name, L.rows, L.nnz,
             flags.lower.levels(),
             static_cast<double>(L.rows) / static_cast<double>(flags.lower.levels()));
  const IncompleteCholesky exact = make(context, placed.view(), "levels");
  const IncompleteCholesky iterated = make(context, placed.view(), "iterated");
  fmt::print("{:>4} {:>10} {:>10} {:>12} {:>11} {:>10} {:>10}   ms\n", "b", "flags", "launches",
             "bound", "flags/bound", "M exact", "M swept");
  for (const Index b : {1, 8, 16, 32}) {
    Block X(context, Lt.rows(), b), Y(context, Lt.rows(), b);
    fill_random<double>(context, 42, 0, X.view());
    const auto by_flags = [&] { flags.solve(context, X, Y); };
    const double bound = bytes_of(context, by_flags) / bandwidth;
    const double waited = seconds_of(context, by_flags);
    const double launched = seconds_of(context, [&] { launches.solve(context, X, Y); });
    const auto apply = [&](const IncompleteCholesky& M) {
      return 1e3 * seconds_of(context, [&] { M->apply(context, X.view(), Y.view()); });
    };
    fmt::print("{:>4} {:>10.4f} {:>10.4f} {:>12.4f} {:>11.1f} {:>10.4f} {:>10.4f}\n", b,
               waited * 1e3, launched * 1e3, bound * 1e3, waited / bound, apply(exact),
               apply(iterated));
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
