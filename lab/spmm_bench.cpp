#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <string>
#include <vector>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/// C = A B on the host for generated matrices: median time, GFLOP/s, GB/s of compulsory traffic,
/// and this traffic as a fraction of the copy bandwidth measured just before and after (counting
/// read and written bytes, the best of plain, memcpy and non-temporal copies). Uses OpenMP's
/// default number of threads.
namespace {

using heddle::Buffer;
using heddle::Clock;
using heddle::GallerySpec;
using heddle::HostContext;
using heddle::HostCsrMatrix;
using heddle::HostSpace;
using heddle::Index;
using heddle::MultiVector;
using heddle::seconds_since;
using heddle::SpmmPlan;

/// Copies between two arrays far larger than the caches.
class Copier {
 public:
  explicit Copier(HostContext& context)
      : context_(context), from_(context, kValues), to_(context, kValues) {
    in_slices([this](std::size_t first, std::size_t count) {
      std::fill_n(from_.data() + first, count, 1.0);
      std::fill_n(to_.data() + first, count, 0.0);
    });
  }

  /// Bytes per second, read and written, of the fastest of several copies of each kind.
  double bandwidth() {
    double seconds = 1e300;
    for (int run = 0; run < 3; ++run) {
      seconds = std::min({seconds, time(plain_copy), time(library_copy), time(streaming_copy)});
    }
    return 2 * static_cast<double>(kValues * sizeof(double)) / seconds;
  }

 private:
  static constexpr std::size_t kValues = std::size_t{1} << 25;  // 256 MiB per array
  static constexpr std::size_t kSlice = std::size_t{1} << 16;

  static void plain_copy(double* to, const double* from, std::size_t count) {
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
  static void library_copy(double* to, const double* from, std::size_t count) {
    std::memcpy(to, from, count * sizeof(double));
  }
  static void streaming_copy(double* to, const double* from, std::size_t count) {
#if defined(__AVX512F__)
    for (std::size_t i = 0; i < count; i += 8) {
      _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
    }
    _mm_sfence();
#else
    plain_copy(to, from, count);
#endif
  }

  template <class Body>
  void in_slices(const Body& body) {
#pragma omp parallel for num_threads(context_.threads())
    for (std::size_t slice = 0; slice < kValues / kSlice; ++slice) body(slice * kSlice, kSlice);
  }

  template <class Copy>
  double time(Copy copy) {
    const Clock::time_point begin = Clock::now();
    in_slices([&](std::size_t first, std::size_t count) {
      copy(to_.data() + first, from_.data() + first, count);
    });
    benchmark::DoNotOptimize(to_.data());
    benchmark::ClobberMemory();
    return seconds_since(begin);
  }

  HostContext& context_;
  Buffer<double, HostSpace> from_;
  Buffer<double, HostSpace> to_;
};

/// One matrix with its plan.
struct Problem {
  Problem(HostContext& context, const GallerySpec& spec)
      : matrix(heddle::generate<double>(context, spec)), plan(context, matrix.view()) {}

  HostCsrMatrix<double> matrix;
  SpmmPlan<double, HostContext> plan;
};

HostContext& context() {
  static HostContext host;
  return host;
}

Copier& copier() {
  static Copier copies(context());
  return copies;
}

/// The problem of `spec`. The previous problem is freed, so that only one matrix is in memory.
const Problem& problem(const GallerySpec& spec) {
  static std::unique_ptr<Problem> current;
  static std::string name;
  if (current == nullptr || name != spec.name) {
    current.reset();
    current = std::make_unique<Problem>(context(), spec);
    name = spec.name;
  }
  return *current;
}

MultiVector<double, HostSpace> filled_block(Index rows, Index N) {
  MultiVector<double, HostSpace> block(context(), rows, N);
#pragma omp parallel for num_threads(context().threads())
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < N; ++j) block.view()(i, j) = static_cast<double>((i + 7 * j) % 17) - 8;
  }
  return block;
}

void multiply(benchmark::State& state, const GallerySpec& spec) {
  const Index N = state.range(0);
  const Problem& A = problem(spec);
  const MultiVector<double, HostSpace> B = filled_block(A.matrix.cols(), N);
  MultiVector<double, HostSpace> C = filled_block(A.matrix.rows(), N);
  const double before = copier().bandwidth();
  std::vector<double> seconds;
  for (auto _ : state) {
    const Clock::time_point begin = Clock::now();
    A.plan.multiply(context(), 1.0, B.view(), 0.0, C.view());
    benchmark::ClobberMemory();
    seconds.push_back(seconds_since(begin));
  }
  const double bandwidth = std::max(before, copier().bandwidth());
  const double median = heddle::median(seconds);
  const double bytes = A.plan.compulsory_bytes(N);
  const double flops = 2 * static_cast<double>(A.matrix.nnz()) * static_cast<double>(N);
  state.counters["ms"] = 1e3 * median;
  state.counters["GFLOP/s"] = 1e-9 * flops / median;
  state.counters["GB/s"] = 1e-9 * bytes / median;
  state.counters["copy_GB/s"] = 1e-9 * bandwidth;
  state.counters["of_bound"] = bytes / median / bandwidth;
  state.SetLabel(std::string(A.plan.kernel(N)));
}

void register_benchmarks() {
  const std::vector<GallerySpec> specs = {
      {"stencil27", {128, 128, 128}},
      {"elasticity3d", {56, 56, 56}},
      {"laplace3d", {160, 160, 160}},
      {"random_uniform", {1'000'000}},
      {"rmat", {20}},
      {"band", {16'000, 512}},
  };
  for (const GallerySpec& spec : specs) {
    benchmark::RegisterBenchmark(spec.name.c_str(),
                                 [spec](benchmark::State& state) { multiply(state, spec); })
        ->ArgName("N")
        ->ArgsProduct({{1, 4, 8, 16, 32, 64}})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
}
