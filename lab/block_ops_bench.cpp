#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <map>

// The block operations compared with the limits of the machine. Counters: GFLOP/s and GB/s by the
// operation's own count, and `bound`, the shortest possible time divided by the measured time. The
// shortest possible time is the larger of flops / (measured multiply-add peak) and bytes /
// (measured bandwidth of reading, or reading and writing in equal parts, memory of the same size).

namespace heddle {
namespace {

/// A vector of the widest registers that these compiler options allow, as GCC and clang extend C++.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif
template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
inline constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(T));

template <class T>
Vector<T> load(const T* from) {
  Vector<T> loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

/// The shortest time of several runs, in seconds.
template <class Work>
double shortest(const Work& work) {
  double best = 1e30;
  for (int run = 0; run < 8; ++run) {
    const Clock::time_point begin = Clock::now();
    work();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

/// The measured peak of multiply-adds on all threads, in flops per second.
template <class T>
double peak_flops() {
  constexpr int kChains = 24;
  constexpr int kSteps = 1 << 20;
  static const double peak = [] {
    double threads = 1;
    const double seconds = shortest([&] {
#pragma omp parallel
      {
#pragma omp single
        threads = omp_get_num_threads();
        T factors[2] = {T{0.5}, T{0.25}};
        benchmark::DoNotOptimize(factors);
        const Vector<T> factor = Vector<T>{} + factors[0];
        const Vector<T> term = Vector<T>{} + factors[1];
        Vector<T> chain[kChains] = {};
        for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
          for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * factor + term;
        }
        Vector<T> sum = {};
#pragma GCC unroll 24
        for (int c = 0; c < kChains; ++c) sum += chain[c];
        benchmark::DoNotOptimize(sum);
      }
    });
    return threads * kChains * kSteps * 2.0 * kLanes<T> / seconds;
  }();
  return peak;
}

/// Bytes per second of reading a block of memory, or of copying one half of it to the other half.
double bandwidth(std::size_t bytes, bool writes) {
  static std::map<std::pair<std::size_t, bool>, double> known;
  const auto [entry, fresh] = known.try_emplace({bytes, writes}, 0);
  if (!fresh) return entry->second;
  HostContext context;
  const Index rows = static_cast<Index>(bytes / (16 * sizeof(double)));
  MultiVector<double, HostSpace> memory(context, rows, 16);
  set_zero<double>(context, memory.view());
  const Index half = rows / 2;
  const BlockView<double, HostSpace> source(memory.view().data(), half, 16, 16);
  const BlockView<double, HostSpace> target(memory.view().data() + half * 16, half, 16, 16);
  const double seconds = shortest([&] {
    if (writes) {
      copy<double>(context, source, target);
      return;
    }
#pragma omp parallel
    {
      constexpr int kChains = 8;
      Vector<double> chain[kChains] = {};
      const Index step = kChains * kLanes<double>;
#pragma omp for
      for (Index first = 0; first < rows * 16 / step; ++first) {
#pragma GCC unroll 8
        for (int c = 0; c < kChains; ++c) {
          chain[c] += load(memory.view().data() + first * step + c * kLanes<double>);
        }
      }
#pragma GCC unroll 8
      for (int c = 1; c < kChains; ++c) chain[0] += chain[c];
      benchmark::DoNotOptimize(chain[0]);
    }
  });
  return entry->second = static_cast<double>(bytes) / seconds;
}

/// Runs `operation` and reports its rates from the context's profile.
template <class T, class Operation>
void measure(benchmark::State& state, HostContext& context, std::size_t footprint, bool writes,
             const Operation& operation) {
  operation();
  context.profile().reset();
  double runs = 0;
  for (auto _ : state) {
    operation();
    ++runs;
  }
  context.profile().enter(Phase::verify);
  PhaseTotals totals;
  for (const Phase phase : {Phase::other, Phase::orthogonalize}) {
    totals.bytes += context.profile()[phase].bytes;
    totals.flops += context.profile()[phase].flops;
  }
  const double seconds =
      std::max(totals.flops / peak_flops<T>(), totals.bytes / bandwidth(footprint, writes));
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(totals.flops * 1e-9, Counter::kIsRate);
  state.counters["GB/s"] = Counter(totals.bytes * 1e-9, Counter::kIsRate);
  state.counters["bound"] = Counter(seconds, Counter::kIsRate);
  state.counters["peak"] = peak_flops<T>() * 1e-9;
  state.counters["bw"] = bandwidth(footprint, writes) * 1e-9;
}

/// Columns of an n×width block from `first` on, as the solvers store S = [X P W].
template <class T>
struct Blocks {
  Blocks(Index n, Index width) : S(context, n, width), small(context, width, width) {
    fill_random<T>(context, 42, 0, S.view());
    std::fill_n(small.view(width, width).data, width * width, 1.0 / static_cast<double>(width));
  }
  std::size_t bytes() const { return static_cast<std::size_t>(S.rows() * S.ld()) * sizeof(T); }

  HostContext context;
  MultiVector<T, HostSpace> S;
  SmallMatrix<double, HostSpace> small;
};

/// G = XᵀX with X n×b.
template <class T>
void gram_of_one(benchmark::State& state) {
  const Index b = state.range(1);
  Blocks<T> blocks(state.range(0), b);
  measure<double>(state, blocks.context, blocks.bytes(), false, [&] {
    gram<T>(blocks.context, blocks.S.view(), blocks.S.view(), blocks.small.view(b, b));
  });
}

/// G = XᵀY with X n×a and Y n×b in one block.
template <class T>
void gram_of_two(benchmark::State& state) {
  const Index a = state.range(1);
  const Index b = state.range(2);
  Blocks<T> blocks(state.range(0), a + b);
  measure<double>(state, blocks.context, blocks.bytes(), false, [&] {
    gram<T>(blocks.context, blocks.S.columns(0, a), blocks.S.columns(a, b),
            blocks.small.view(a, b));
  });
}

/// Y = S C with the first a columns of S, n×a, and Y n×b.
template <class T>
void multiply_in_place(benchmark::State& state) {
  const Index a = state.range(1);
  const Index b = state.range(2);
  Blocks<T> blocks(state.range(0), a);
  measure<T>(state, blocks.context, blocks.bytes(), true, [&] {
    multiply<T>(blocks.context, 1, blocks.S.view(), blocks.small.view(a, b), 0,
                blocks.S.columns(0, b));
  });
}

/// Y = Y − X C with X n×a and Y n×b in one block.
template <class T>
void multiply_and_subtract(benchmark::State& state) {
  const Index a = state.range(1);
  const Index b = state.range(2);
  Blocks<T> blocks(state.range(0), a + b);
  std::fill_n(blocks.small.view(a, b).data, a * b, 0.0);
  measure<T>(state, blocks.context, blocks.bytes(), true, [&] {
    multiply<T>(blocks.context, -1, blocks.S.columns(0, a), blocks.small.view(a, b), 1,
                blocks.S.columns(a, b));
  });
}

template <class T>
void norms_of_columns(benchmark::State& state) {
  const Index b = state.range(1);
  Blocks<T> blocks(state.range(0), b);
  measure<double>(state, blocks.context, blocks.bytes(), false, [&] {
    column_norms<T>(blocks.context, blocks.S.view(), blocks.small.view(b, 1));
  });
}

template <class T>
void residual_in_place(benchmark::State& state) {
  const Index b = state.range(1);
  Blocks<T> blocks(state.range(0), 2 * b);
  SmallMatrix<double, HostSpace> theta(blocks.context, b, 1);
  std::fill_n(theta.view(b, 1).data, b, 0.0);
  measure<double>(state, blocks.context, blocks.bytes(), true, [&] {
    residual<T>(blocks.context, blocks.S.columns(0, b), blocks.S.columns(b, b), theta.view(b, 1),
                blocks.S.columns(0, b), blocks.small.view(b, 1));
  });
}

template <class T>
void scale_rows_in_place(benchmark::State& state) {
  const Index b = state.range(1);
  Blocks<T> blocks(state.range(0), b);
  MultiVector<T, HostSpace> factors(blocks.context, state.range(0), 1);
  fill_random<T>(blocks.context, 1, 1, factors.view());
  measure<double>(state, blocks.context, blocks.bytes(), true, [&] {
    scale_rows<T>(blocks.context, factors.view(), blocks.S.view(), blocks.S.view());
  });
}

template <class T>
void random_fill(benchmark::State& state) {
  Blocks<T> blocks(state.range(0), state.range(1));
  measure<double>(state, blocks.context, blocks.bytes(), true,
                  [&] { fill_random<T>(blocks.context, 1, 1, blocks.S.view()); });
}

/// One round of projection of an n×b block against an n×a basis: Y = Y + α Q (QᵀY). Q is random,
/// not orthonormal, and α so small that Y keeps its size.
template <class T>
void project_block(benchmark::State& state) {
  const Index a = state.range(1);
  const Index b = state.range(2);
  Blocks<T> blocks(state.range(0), a + b);
  measure<T>(state, blocks.context, blocks.bytes(), true, [&] {
    const auto Q = blocks.S.columns(0, a);
    const auto Y = blocks.S.columns(a, b);
    gram<T>(blocks.context, Q, Y, blocks.small.view(a, b));
    multiply<T>(blocks.context, -1e-12, Q, blocks.small.view(a, b), 1, Y);
  });
}

void tall(benchmark::internal::Benchmark* b) {
  for (const auto n : {125000, 1000000}) {
    for (const auto width : {1, 3, 8, 16, 18, 24, 48, 72}) b->Args({n, width});
  }
  b->Args({200000, 300})->UseRealTime();
}

void pairs(benchmark::internal::Benchmark* b) {
  for (const auto n : {125000, 1000000}) {
    for (const auto width : {1, 5, 8, 16, 18, 24}) {
      b->Args({n, 2 * width, width});
      b->Args({n, 3 * width, width});
    }
  }
  b->Args({200000, 300, 100})->UseRealTime();
}

void products(benchmark::internal::Benchmark* b) {
  for (const auto n : {125000, 1000000}) {
    for (const auto width : {1, 5, 8, 16, 18, 24}) {
      b->Args({n, width, width});
      b->Args({n, 3 * width, 2 * width});
    }
  }
  b->Args({200000, 300, 200})->UseRealTime();
}

BENCHMARK_TEMPLATE(gram_of_one, double)->Apply(tall);
BENCHMARK_TEMPLATE(gram_of_one, float)->Apply(tall);
BENCHMARK_TEMPLATE(gram_of_two, double)->Apply(pairs);
BENCHMARK_TEMPLATE(gram_of_two, float)->Apply(pairs);
BENCHMARK_TEMPLATE(multiply_in_place, double)->Apply(products);
BENCHMARK_TEMPLATE(multiply_in_place, float)->Apply(products);
BENCHMARK_TEMPLATE(multiply_and_subtract, double)->Apply(pairs);
BENCHMARK_TEMPLATE(multiply_and_subtract, float)->Apply(pairs);
BENCHMARK_TEMPLATE(norms_of_columns, double)->Apply(tall);
BENCHMARK_TEMPLATE(residual_in_place, double)->Apply(tall);
BENCHMARK_TEMPLATE(scale_rows_in_place, double)->Apply(tall);
BENCHMARK_TEMPLATE(random_fill, double)->Apply(tall);
BENCHMARK_TEMPLATE(project_block, double)->Apply(pairs);

}  // namespace
}  // namespace heddle

BENCHMARK_MAIN();
