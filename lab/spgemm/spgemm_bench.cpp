#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <string>
#include <vector>

#include "spgemm/comparison.hpp"

namespace {

using namespace heddle;

/// One line: size of the product, ms of heddle and cuSPARSE, their ratio, memory over that of C.
void print(const std::string& name, const char* precision, const lab::SpgemmComparison& result) {
  fmt::print("{:<28} {:<7} {:>11} {:>5.1f}", name.substr(name.rfind('/') + 1), precision,
             result.counts.nnz, result.counts.compression());
  for (const lab::SpgemmTiming& timing : result.timings) {
    if (!timing.failure.empty()) {
      fmt::print("  {}: {}", timing.name, timing.failure);
      continue;
    }
    fmt::print("  {} {:.3f} ms (inspect {:.3f}, update {:.3f}) {:.1f} GFLOP/s, memory {:.3f} C",
               timing.name, timing.total_ms, timing.inspect_ms, timing.update_ms,
               result.flops() / timing.total_ms * 1e-6, timing.peak_bytes / result.product_bytes);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

/// A² of each matrix on the GPU, or A Aᵀ where A is not square.
int run(const std::vector<std::string>& names, bool single) {
  HostContext host;
  double log_ratio = 0;
  int compared = 0;
  lab::SpgemmComparisonOptions options;
  options.cpu = false;
  for (const std::string& name : names) {
    const HostCsrMatrix<double> A = detail::load_matrix(host, name);
    const bool square = A.rows() == A.cols();
    const HostCsrMatrix<double> At =
        square ? HostCsrMatrix<double>() : transpose<double>(host, A.view());
    const auto compare = [&]<class T>(const HostCsrMatrix<T>& left, const HostCsrMatrix<T>& right,
                                      const char* precision) {
      const lab::SpgemmComparison result =
          lab::compare_spgemm<T>(left.view(), right.view(), options);
      print(name, precision, result);
      const auto& timings = result.timings;
      if (timings.size() == 2 && timings[0].failure.empty() && timings[1].failure.empty()) {
        log_ratio += std::log(timings[1].total_ms / timings[0].total_ms);
        ++compared;
      }
    };
    compare(A, square ? A : At, "double");
    if (!single) continue;
    const HostCsrMatrix<float> narrow = convert<float>(host, A.view());
    const HostCsrMatrix<float> narrow_t =
        square ? HostCsrMatrix<float>() : transpose<float>(host, narrow.view());
    compare(narrow, square ? narrow : narrow_t, "single");
  }
  if (compared > 0) {
    fmt::print("geometric mean of cuSPARSE's time over heddle's: {:.2f} ({} products)\n",
               std::exp(log_ratio / compared), compared);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_reporting_failures("spgemm_bench", [&] {
    std::vector<std::string> names(argv + 1, argv + argc);
    const bool single = !names.empty() && names.front() == "--single";
    if (single) names.erase(names.begin());
    run(names, single);
    return apps::ExitCode::converged;
  });
}
