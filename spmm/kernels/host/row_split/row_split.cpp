#include <algorithm>
#include <array>
#include <cstdint>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/row_split/row_kernels.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split.hpp>
#include <utility>

namespace heddle::detail {
namespace {

// Vectors of C that a row keeps in registers: with `kMaxRunHeight` rows at a time, three quarters
// of the registers.
constexpr int kMaxVectors = kVectorBytes == 64 ? 8 : 4;

// Columns of a stripe at most.
template <Scalar T>
constexpr Index kStripe = kMaxVectors* static_cast<int>(kVectorBytes / sizeof(T));

// Rows that a stripe of a wide block goes through before the next stripe: their part of A then
// comes from the first-level cache.
constexpr Index kRowsOfStripe = 32 * kMaxRunHeight;

// The kernels for one width, by height.
template <Scalar T, class Values>
struct Kernels {
  using Rows = void (*)(const Product<T, Values>&, Index first, Index last) noexcept;
  using Segment = void (*)(const Product<T, Values>&, Index begin, Index end, T* sum) noexcept;

  std::array<Rows, kMaxRunHeight> rows;  // [height − 1]
  Segment segment;
};

template <Scalar T, class Values, int W, int V>
constexpr Kernels<T, Values> kernels_of_shape() {
  static_assert(kMaxRunHeight == 3);
  return {{multiply_rows<T, W, V, 1, Values>, multiply_rows<T, W, V, 2, Values>,
           multiply_rows<T, W, V, 3, Values>},
          multiply_segment<T, W, V, Values>};
}

template <Scalar T, class Values, int W, int... V>
Kernels<T, Values> kernels_of_lanes(Index N, std::integer_sequence<int, V...>) {
  static constexpr std::array<Kernels<T, Values>, sizeof...(V)> kTable = {
      kernels_of_shape<T, Values, W, V + 1>()...};
  return kTable[static_cast<std::size_t>((N - 1) / W)];
}

// The kernels for N columns, N ≤ kStripe<T>: vectors of as many lanes as N has columns, at most
// a register's.
template <Scalar T, class Values, int W = static_cast<int>(kLanes<T>)>
Kernels<T, Values> kernels_for(Index N) {
  if constexpr (W == 1) {
    return {{multiply_rows_by_vector<T, 1, Values>, multiply_rows_by_vector<T, 2, Values>,
             multiply_rows_by_vector<T, 3, Values>},
            multiply_segment_by_vector<T, Values>};
  } else {
    if (N < W) return kernels_for<T, Values, W / 2>(N);
    constexpr int kMost = W == kLanes<T> ? kMaxVectors : 2;
    return kernels_of_lanes<T, Values, W>(N, std::make_integer_sequence<int, kMost>());
  }
}

// The columns of a block in stripes of about equal width, each with its kernels.
template <Scalar T, class Values>
class ColumnStripes {
 public:
  explicit ColumnStripes(const Product<T, Values>& whole)
      : whole_(whole),
        count_((whole.N + kStripe<T> - 1) / kStripe<T>),
        width_((whole.N + count_ - 1) / count_) {
    if (count_ > 1) width_ = round_up_to_lanes<T>(width_);
  }

  Index count() const noexcept { return count_; }

  Product<T, Values> operator[](Index stripe) const noexcept {
    Product<T, Values> product = whole_;
    const Index first = stripe * width_;
    product.B += first;
    product.C += first;
    if (product.X != nullptr) product.X += first;
    if (product.Y != nullptr) product.Y += first;
    product.N = std::min(width_, whole_.N - first);
    return product;
  }

 private:
  Product<T, Values> whole_;
  Index count_;
  Index width_;
};

template <Scalar T, class Values>
void multiply_run(const ColumnStripes<T, Values>& stripes, const RowRun& run) {
  const Index step = stripes.count() == 1 ? run.last - run.first : kRowsOfStripe;
  for (Index first = run.first; first < run.last; first += step) {
    const Index last = std::min(first + step, run.last);
    for (Index s = 0; s < stripes.count(); ++s) {
      const Product<T, Values> product = stripes[s];
      kernels_for<T, Values>(product.N).rows[static_cast<std::size_t>(run.height - 1)](product,
                                                                                       first, last);
    }
  }
}

// Whether the rows of B between a row's first and last column are more than a core's second-level
// cache, so that most of them are not there any more when the next row needs them.
template <Scalar T>
bool outgrows_cache(const RowSchedule& schedule, Index N) {
  constexpr Index kCache = Index{1} << 20;
  return schedule.spread * N * static_cast<Index>(sizeof(T)) > kCache;
}

template <Scalar T>
Prefetch choose_prefetch(const RowSchedule& schedule, Index N) {
  if (schedule.advances) return Prefetch::front;
  return outgrows_cache<T>(schedule, N) ? Prefetch::entries : Prefetch::none;
}

// Whether the threads take chunks in turns. They then work side by side and share what their common
// cache holds. Otherwise a thread has a range of chunks, and finds what it used before in its own
// cache. Strips keep within that.
template <Scalar T>
bool shares_cache(const RowSchedule& schedule, Index N) {
  return schedule.strip_rows == 0 && outgrows_cache<T>(schedule, N);
}

// Whether C is stored past the caches: a block that no cache would hold until it is read again, in
// rows of whole, aligned registers. The lines of C are then not read before they are overwritten.
template <Scalar T>
bool streams(const SpmmProduct<T, HostSpace>& p) {
  constexpr std::size_t kCached = std::size_t{32} << 20;
  const auto bytes = static_cast<std::size_t>(p.A.rows * p.N) * sizeof(T);
  return p.beta == T{0} && bytes >= kCached && p.N % kLanes<T> == 0 && p.ldc % kLanes<T> == 0 &&
         reinterpret_cast<std::uintptr_t>(p.C) % kVectorBytes == 0;
}

// Adds the segments of a heavy row in order.
template <Scalar T, class Values>
void add_segments(const Product<T, Values>& p, const HeavyRow& heavy, const T* partials) {
  const T* const old = p.C + heavy.row * p.ldc;
  for (Index j = 0; j < p.N; ++j) {
    T sum{0};
    for (std::size_t s = heavy.first_segment; s < heavy.last_segment; ++s) {
      sum += partials[static_cast<Index>(s) * kMaxStripe<T> + j];
    }
    T c[1] = {p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * old[j]};
    finish_row(p, heavy.row, OneColumn<T>{j}, c);
  }
}

}  // namespace

template <Isa kVariant, Scalar T, class Values>
void row_split_kernel(const SpmmProduct<T, HostSpace>& p, Values values,
                      const RowSchedule& schedule, T* partials, int threads) {
  static_assert(kStripe<T> <= kMaxStripe<T>);
  const ColumnStripes<T, Values> stripes(
      {p, values, choose_prefetch<T>(schedule, p.N), streams(p)});
  const auto chunks = static_cast<Index>(schedule.chunks.size());
  const auto segments = static_cast<Index>(schedule.segments.size());
  const double blocks = static_cast<double>((p.A.rows + p.A.cols) * p.N) * sizeof(T);
  const double entries = static_cast<double>(p.A.nnz) * (sizeof(T) + sizeof(std::int32_t));
  const int team = team_size(threads, blocks + entries,
                             2 * static_cast<double>(p.A.nnz) * static_cast<double>(p.N));
  const auto multiply_chunk = [&](Index c) {
    const RowChunk& chunk = schedule.chunks[static_cast<std::size_t>(c)];
    for (std::size_t r = chunk.first_run; r < chunk.last_run; ++r) {
      multiply_run(stripes, schedule.runs[r]);
    }
    end_streaming();
  };
  if (shares_cache<T>(schedule, p.N)) {
    parallel_for_in_turns(team, chunks, multiply_chunk);
  } else {
    parallel_for(team, chunks, multiply_chunk);
  }
  for (Index stripe = 0; segments > 0 && stripe < stripes.count(); ++stripe) {
    const Product<T, Values> product = stripes[stripe];
    const auto kernel = kernels_for<T, Values>(product.N).segment;
    parallel_for(team, segments, [&](Index s) {
      const RowSegment& segment = schedule.segments[static_cast<std::size_t>(s)];
      kernel(product, segment.begin, segment.end, partials + s * kMaxStripe<T>);
    });
    parallel_for(team, static_cast<Index>(schedule.heavy_rows.size()), [&](Index h) {
      add_segments(product, schedule.heavy_rows[static_cast<std::size_t>(h)], partials);
    });
  }
}

#define HEDDLE_INSTANTIATE_VALUES(T, Values)                                     \
  template void row_split_kernel<kIsa>(const SpmmProduct<T, HostSpace>&, Values, \
                                       const RowSchedule&, T*, int);
#define HEDDLE_INSTANTIATE(T)            \
  HEDDLE_INSTANTIATE_VALUES(T, const T*) \
  HEDDLE_INSTANTIATE_VALUES(T, GatheredValues<T>)
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_VALUES

}  // namespace heddle::detail
