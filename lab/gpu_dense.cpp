// Tall-skinny operations on the GPU compared with their compulsory traffic, as fractions of the
// copy bandwidth measured in the same run, and with cuBLAS for the same product.
//
// usage: gpu_dense [ROWS...]     default: 125000 1000000 4000000

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <vector>

#include "cuda_check.hpp"

namespace heddle {
namespace {

using lab::check;

using Block = MultiVector<double, DeviceSpace>;
using FloatBlock = MultiVector<float, DeviceSpace>;

/// Median time of one run in milliseconds, measured by events around batches of runs.
double milliseconds(CudaContext& context, const std::function<void()>& run) {
  constexpr int kBatches = 7;
  constexpr int kRunsInBatch = 10;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    check(cudaEventRecord(begin, context.stream()));
    for (int i = 0; i < kRunsInBatch; ++i) run();
    check(cudaEventRecord(end, context.stream()));
    check(cudaEventSynchronize(end));
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, begin, end));
    times.push_back(static_cast<double>(elapsed) / kRunsInBatch);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return heddle::median(std::move(times));
}

/// Bytes per second of a copy within device memory, counting both read and written bytes.
double copy_bandwidth(CudaContext& context) {
  constexpr std::size_t kBytes = std::size_t{4} << 30;
  const Buffer<char, DeviceSpace> source(context, kBytes);
  Buffer<char, DeviceSpace> target(context, kBytes);
  check(cudaMemsetAsync(target.data(), 1, kBytes, context.stream()));
  const double ms = milliseconds(context, [&] {
    check(cudaMemcpyAsync(target.data(), source.data(), kBytes, cudaMemcpyDeviceToDevice,
                          context.stream()));
  });
  return 2e3 * static_cast<double>(kBytes) / ms;
}

/// Prints one line per operation: its time, and its compulsory traffic as a fraction of the
/// bandwidth.
class Report {
 public:
  Report(CudaContext& context, double bandwidth) : context_(context), bandwidth_(bandwidth) {}

  void line(const char* name, Index rows, Index cols, double bytes,
            const std::function<void()>& ours, const std::function<void()>& vendor = nullptr) {
    const double ms = milliseconds(context_, ours);
    fmt::print("{:<28} {:>9} {:>5} {:>9.4f} ms {:>7.0f} GB/s {:>6.2f}", name, rows, cols, ms,
               bytes / ms * 1e-6, bytes / ms * 1e3 / bandwidth_);
    if (vendor) {
      const double vendor_ms = milliseconds(context_, vendor);
      fmt::print("   cuBLAS {:>9.4f} ms {:>6.2f}", vendor_ms, bytes / vendor_ms * 1e3 / bandwidth_);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }

 private:
  CudaContext& context_;
  double bandwidth_;
};

/// The rows×cols matrix with ones on its diagonal. A block multiplied by it in place, any number of
/// times, does not change.
SmallMatrix<double, DeviceSpace> unit_matrix(CudaContext& context, Index rows, Index cols) {
  HostContext host(1);
  SmallMatrix<double, HostSpace> I(host, rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) I.view(rows, cols)(i, j) = i == j ? 1 : 0;
  }
  SmallMatrix<double, DeviceSpace> placed(context, rows, cols);
  send(context, I.view(rows, cols), placed.view(rows, cols));
  context.synchronize();
  return placed;
}

void measure_double(CudaContext& context, Report& report, Index n, Index b) {
  Block X(context, n, b);
  Block Y(context, n, b);
  SmallMatrix<double, DeviceSpace> G(context, b, b);
  SmallMatrix<double, DeviceSpace> I = unit_matrix(context, b, b);
  SmallMatrix<double, DeviceSpace> norms(context, b, 1);
  Block R(context, n, b);
  const auto small = G.view(b, b);
  fill_random(context, 1, 1, X.view());
  fill_random(context, 1, 2, Y.view());
  const double panel = static_cast<double>(n * b) * sizeof(double);
  const double one = 1;
  const double zero = 0;
  const int ld = static_cast<int>(X.ld());
  const int width = static_cast<int>(b);
  const int rows = static_cast<int>(n);
  const auto vendor_gram = [&](const double* x, const double* y) {
    check(cublasDgemm(context.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, width, width, rows, &one, x, ld,
                      y, ld, &zero, small.data, width));
  };
  report.line(
      "gram XtY", n, b, 2 * panel, [&] { gram<double>(context, X.view(), Y.view(), small); },
      [&] { vendor_gram(X.view().data(), Y.view().data()); });
  report.line(
      "gram XtX", n, b, panel, [&] { gram<double>(context, X.view(), X.view(), small); },
      [&] { vendor_gram(X.view().data(), X.view().data()); });
  report.line(
      "multiply Y = X C", n, b, 2 * panel,
      [&] { multiply<double>(context, 1, X.view(), small, 0, Y.view()); },
      [&] {
        check(cublasDgemm(context.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, width, rows, width, &one,
                          small.data, width, X.view().data(), ld, &zero, Y.view().data(), ld));
      });
  report.line("multiply Y -= X C", n, b, 3 * panel,
              [&] { multiply<double>(context, -1e-9, X.view(), small, 1, Y.view()); });
  report.line("multiply X = X C in place", n, b, 2 * panel,
              [&] { multiply<double>(context, 1, X.view(), I.view(b, b), 0, X.view()); });
  report.line("column norms", n, b, panel,
              [&] { column_norms<double>(context, X.view(), norms.view(b, 1)); });
  report.line("residual and norms", n, b, 3 * panel, [&] {
    residual<double>(context, X.view(), Y.view(), norms.view(b, 1), R.view(), norms.view(b, 1));
  });
  report.line("copy", n, b, 2 * panel, [&] { copy<double>(context, X.view(), Y.view()); });
  report.line("random fill", n, b, panel, [&] { fill_random(context, 1, 1, X.view()); });
}

void measure_float(CudaContext& context, Report& report, Index n, Index b) {
  FloatBlock X(context, n, b);
  FloatBlock Y(context, n, b);
  SmallMatrix<double, DeviceSpace> G(context, b, b);
  fill_random(context, 1, 1, X.view());
  fill_random(context, 1, 2, Y.view());
  const double panel = static_cast<double>(n * b) * sizeof(float);
  report.line("gram XtY, float", n, b, 2 * panel,
              [&] { gram<float>(context, X.view(), Y.view(), G.view(b, b)); });
  report.line("multiply Y = X C, float", n, b, 2 * panel,
              [&] { multiply<float>(context, 1, X.view(), G.view(b, b), 0, Y.view()); });
}

/// The operations of LOBPCG on S = [X P W], n×3b: Sᵀ[BW AW], the projection of W, and the update
/// [X P] ← S C in place.
void measure_update(CudaContext& context, Report& report, Index n, Index b) {
  Block S(context, n, 3 * b);
  SmallMatrix<double, DeviceSpace> C = unit_matrix(context, 3 * b, 2 * b);
  fill_random(context, 1, 1, S.view());
  Block AS(context, n, 3 * b);
  fill_random(context, 1, 2, AS.view());
  SmallMatrix<double, DeviceSpace> G(context, 3 * b, b);
  SmallMatrix<double, DeviceSpace> H(context, 3 * b, b);
  SmallMatrix<double, DeviceSpace> N = unit_matrix(context, 3 * b, b);
  const auto W = S.columns(2 * b, b);
  const auto AW = AS.columns(2 * b, b);
  const double panel = static_cast<double>(n * b) * sizeof(double);
  const int order = static_cast<int>(3 * b);
  const int width = static_cast<int>(b);
  const int ld = static_cast<int>(S.ld());
  const double one = 1;
  const double zero = 0;
  const auto vendor_gram = [&](const double* y) {
    check(cublasDgemm(context.cublas(), CUBLAS_OP_N, CUBLAS_OP_T, order, width, static_cast<int>(n),
                      &one, S.view().data(), ld, y, ld, &zero, H.view(order, width).data, order));
  };
  report.line(
      "gram StW, S n x 3b", n, b, 3 * panel,
      [&] { gram<double>(context, S.view(), W, G.view(3 * b, b)); },
      [&] { vendor_gram(W.data()); });
  report.line(
      "gram St[W AW]", n, b, 4 * panel,
      [&] { gram<double>(context, S.view(), W, G.view(3 * b, b), AW, H.view(3 * b, b)); },
      [&] {
        vendor_gram(W.data());
        vendor_gram(AW.data());
      });
  report.line("project W = S N", n, b, 4 * panel,
              [&] { multiply<double>(context, 1, S.view(), N.view(3 * b, b), 0, W); });
  report.line("update [X P] = S C", n, b, static_cast<double>(5 * n * b) * sizeof(double), [&] {
    multiply<double>(context, 1, S.view(), C.view(3 * b, 2 * b), 0, S.columns(0, 2 * b));
  });
}

void measure(const std::vector<Index>& row_counts) {
  CudaContext context;
  const double bandwidth = copy_bandwidth(context);
  fmt::print("{}: copy bandwidth {:.0f} GB/s; the last figure is the fraction of it\n",
             context.device().name, bandwidth * 1e-9);
  Report report(context, bandwidth);
  for (const Index n : row_counts) {
    for (const Index b : {4, 8, 16, 24, 32, 48, 64, 96, 128}) {
      measure_double(context, report, n, b);
    }
    for (const Index b : {8, 16, 32, 64}) measure_float(context, report, n, b);
    for (const Index b : {8, 12, 16, 20, 24, 32, 48}) measure_update(context, report, n, b);
  }
}

}  // namespace
}  // namespace heddle

namespace heddle {
namespace {

/// Milliseconds of a dense eigenproblem in host memory, by the host and by the device.
void measure_eigenproblems() {
  CudaContext context;
  DenseEigensolver on_host(512), beside_device(context, 512);
  fmt::print("dense eigenproblems, ms: order, host, beside the device\n");
  for (const Index m : {48, 96, 128, 159, 160, 192, 256, 384, 512}) {
    std::vector<double> H(static_cast<std::size_t>(m * m)), theta(static_cast<std::size_t>(m)),
        Z(H);
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < m; ++i) {
        H[static_cast<std::size_t>(i + j * m)] =
            std::cos(static_cast<double>((i + 1) * (j + 1))) + (i == j ? 3.0 * double(i) : 0);
      }
    }
    const auto ms = [&](DenseEigensolver& solver) {
      const ConstSmallView<double, HostSpace> h{H.data(), m, m, m};
      solver.solve(h, {theta.data(), m, 1, m}, {Z.data(), m, m, m});
      const auto begin = Clock::now();
      constexpr int kRuns = 5;
      for (int run = 0; run < kRuns; ++run) {
        solver.solve(h, {theta.data(), m, 1, m}, {Z.data(), m, m, m});
      }
      const double spent = seconds_since(begin);
      return 1e3 * spent / kRuns;
    };
    fmt::print("{:>5} {:>8.2f} {:>8.2f}\n", m, ms(on_host), ms(beside_device));
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  std::vector<heddle::Index> row_counts;
  for (int i = 1; i < argc; ++i) row_counts.push_back(std::atoll(argv[i]));
  if (row_counts.empty()) row_counts = {125'000, 1'000'000, 4'000'000};
  heddle::measure(row_counts);
  heddle::measure_eigenproblems();
}
