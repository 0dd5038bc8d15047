#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/hybrid.hpp>
#include <heddle/spgemm/hybrid_band.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "spgemm/stopwatch.hpp"

/// Products shared between host and GPU against each side alone and against the best share found by
/// search. All results lie in host memory.
namespace {

using namespace heddle;

constexpr double kPercent = 100;

/// The median time of runs after one that is not counted: five, or as many as fit into a few
/// milliseconds.
template <class Work>
double brief_median_ms(const Work& work) {
  constexpr std::size_t kLeastRuns = 5;
  constexpr double kLeastMs = 5;
  std::vector<double> times;
  work();
  for (double total = 0; times.size() < kLeastRuns || total < kLeastMs; total += times.back()) {
    const auto begin = Clock::now();
    work();
    times.push_back(milliseconds_since(begin));
  }
  return heddle::median(std::move(times));
}

/// A share of the GPU and the time with it.
struct Trial {
  double share = 0;
  double ms = std::numeric_limits<double>::infinity();
};

/// The best of the shares 0, step, …, 1, and then of finer ones around it.
template <class Time>
Trial search(const Time& time, double step, double finest) {
  Trial best;
  const auto attempt = [&](double share) {
    const double ms = time(std::clamp(share, 0.0, 1.0));
    if (ms < best.ms) best = {std::clamp(share, 0.0, 1.0), ms};
  };
  for (int i = 0; i * step < 1 + step / 2; ++i) attempt(i * step);
  for (double width = step / 2; width >= finest; width /= 2) {
    const double middle = best.share;
    attempt(middle - width);
    attempt(middle + width);
  }
  return best;
}

/// A² of a matrix, or A Aᵀ where A is not square.
void compare_matrix(CudaContext& gpu, HostContext& host, const std::string& name) {
  const HostCsrMatrix<double> A = detail::load_matrix(host, name);
  const bool square = A.rows() == A.cols();
  const HostCsrMatrix<double> At =
      square ? HostCsrMatrix<double>() : transpose<double>(host, A.view());
  const CsrView<double, HostSpace> B = square ? A.view() : At.view();
  HybridSpgemm<double> product(gpu, host, A.view(), B);
  const std::size_t limit = gpu.free_bytes() / 2;
  HybridReport report;
  const auto time = [&](double share) {
    return brief_median_ms([&] { product.multiply(share, limit, report); });
  };
  constexpr double kHeuristicOne =
      0.75;  // the paper's: a quarter of the multiplications on the CPU
  constexpr double kSample = 0.02;
  const double host_ms = brief_median_ms([&] { spgemm<double>(host, A.view(), B); });
  const double cpu = std::min(host_ms, time(0));
  const double gpu_ms = time(1);
  const double first = time(kHeuristicOne);
  const auto begin = Clock::now();
  const double share = product.measure_share(kSample, limit);
  const double sampling = milliseconds_since(begin);
  const double second = time(share);
  const double idle = report.idle_ms();
  constexpr double kStep = 0.1;
  const Trial best = search(time, kStep, kStep / 2);
  const double alone = std::min(cpu, gpu_ms);
  const double least = std::min({best.ms, second, alone});
  fmt::print(
      "{:<24} host {:8.2f}  gpu {:8.2f}  I {:8.2f}  II {:8.2f} ({:5.1f} %, idle {:.2f}, sampled in "
      "{:.0f})  best {:8.2f} ({:5.1f} %)  II/alone {:.3f}  II/best {:.3f}\n",
      name.substr(name.rfind('/') + 1), cpu, gpu_ms, first, second, kPercent * share, idle,
      sampling, best.ms, kPercent * best.share, second / alone, second / least);
  std::fflush(stdout);
}

/// A matrix with the diagonals −count/2 … without gaps, as the paper's.
HostDiaMatrix<double> full_band(HostContext& host, Index rows, Index count) {
  DiaShape shape{rows, rows, {}};
  for (Index d = 0; d < count; ++d) shape.offsets.push_back(d - count / 2);
  HostDiaMatrix<double> A(host, std::move(shape));
  for (Index k = 0; k < count; ++k) {
    const Index offset = A.shape().offsets[static_cast<std::size_t>(k)];
    for (Index i = 0; i < A.ld(); ++i) {
      const bool inside = i < rows && i + offset >= 0 && i + offset < rows;
      A.values()[k * A.ld() + i] = inside ? 1 / static_cast<double>(1 + (i + k) % 7) : 0;
    }
  }
  return A;
}

std::string describe(const char* side, const BandCost& cost) {
  constexpr double kNanoPerMilli = 1e6;
  return fmt::format("{} {:.4f} R + {:.4f} S ns + {:.3f} ms", side,
                     cost.per_multiplication * kNanoPerMilli, cost.per_entry * kNanoPerMilli,
                     cost.latency);
}

/// The sizes of the paper's figure 11: the share of the rows that the costs give for the host, and
/// the best one.
void compare_bands(CudaContext& gpu, HostContext& host, const std::vector<Index>& sizes) {
  struct Bands {
    Index A;
    Index B;
  };
  for (const Index rows : sizes) {
    const auto begin = Clock::now();
    const BandCosts costs = measure_band_costs<double>(gpu, host, rows);
    fmt::print("{} rows, fitted in {:.0f} ms: {}, {}; alone {}, {}\n", rows,
               milliseconds_since(begin), describe("host", costs.host), describe("GPU", costs.gpu),
               describe("host", costs.host_alone), describe("GPU", costs.gpu_alone));
    for (const auto& [left, right] :
         {Bands{3, 4}, Bands{3, 5}, Bands{3, 6}, Bands{2, 5}, Bands{4, 5}, Bands{5, 5}}) {
      const HostDiaMatrix<double> A = full_band(host, rows, left);
      const HostDiaMatrix<double> B = full_band(host, rows, right);
      HybridBand<double> product(gpu, host, A, B);
      HybridReport report;
      const auto time = [&](double gpu_share) {
        return brief_median_ms([&] { product.multiply(1 - gpu_share, report); });
      };
      constexpr int kWarmUps = 20;  // the system moves pages of new memory meanwhile
      for (int i = 0; i < kWarmUps; ++i) product.multiply(0.5, report);
      const double cpu = time(0);
      const double gpu_ms = time(1);
      const double split = band_split(costs, product.work());
      const double ms = time(1 - split);
      const double idle = report.idle_ms();
      constexpr double kStep = 0.1;
      constexpr double kFinest = 0.0125;
      const Trial best = search(time, kStep, kFinest);
      fmt::print(
          "  {:>8} {} {}  host {:8.3f}  gpu {:8.3f}  split {:5.1f} % {:8.3f} (idle {:.3f})  best "
          "{:5.1f} % {:8.3f}  off {:+5.1f}  /alone {:.3f}\n",
          rows, left, right, cpu, gpu_ms, kPercent * split, ms, idle, kPercent * (1 - best.share),
          best.ms, kPercent * (split - (1 - best.share)), ms / std::min(cpu, gpu_ms));
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times products shared between host and GPU.", "hybrid_bench");
  std::vector<std::string> names;
  std::vector<Index> bands;
  int threads = 0;
  app.add_option("matrices", names, "files or generated structures, squared");
  app.add_option("--bands", bands, "numbers of rows of band matrices")->delimiter(',');
  app.add_option("--threads", threads, "of the host; 0: by the machine");
  CLI11_PARSE(app, argc, argv);
  return apps::run_reporting_failures("hybrid_bench", [&] {
    CudaContext gpu;
    HostContext host(threads);
    fmt::print("{}, {} threads\n", gpu.device().name, host.threads());
    compare_bands(gpu, host, bands);
    for (const std::string& name : names) compare_matrix(gpu, host, name);
    return apps::ExitCode::converged;
  });
}
