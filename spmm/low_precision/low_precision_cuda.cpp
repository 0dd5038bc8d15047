#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/low_precision/kernel_table.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/rounding.hpp>
#include <heddle/spmm/plan/product_checks.hpp>
#include <limits>
#include <utility>

namespace heddle {
namespace {

/// The kernels read B by this many bytes.
constexpr Index kVectorBytes = 16;

template <class V>
std::int32_t bytes_of(Index count) {
  return static_cast<std::int32_t>(count * static_cast<Index>(sizeof(V)));
}

/// A kernel that takes A, with its predicted seconds.
struct Candidate {
  const detail::ShortKernel* kernel;
  double seconds;
};

/// Those of `auto` and `measure`, the fastest first.
std::vector<Candidate> candidates(const detail::ProductCounts& counts, bool on_host) {
  std::vector<Candidate> found;
  for (const detail::ShortKernel& kernel : detail::short_kernels()) {
    const double seconds = kernel.seconds(counts);
    if (seconds < std::numeric_limits<double>::infinity() && (on_host || !kernel.built_on_host)) {
      found.push_back({&kernel, seconds});
    }
  }
  std::ranges::stable_sort(found, {}, &Candidate::seconds);
  return found;
}

std::string times_of(const std::vector<Candidate>& times) {
  std::string text;
  for (const auto& [kernel, seconds] : times) {
    text += fmt::format("{}{} {:.3g} us", text.empty() ? "" : ", ", kernel->name, 1e6 * seconds);
  }
  return text;
}

const detail::ShortKernel& named(const std::string& name) {
  std::string known;
  for (const detail::ShortKernel& kernel : detail::short_kernels()) {
    if (kernel.name == name) return kernel;
    known += fmt::format(", {}", kernel.name);
  }
  throw InvalidArgument(fmt::format(
      "kernel '{}' of products in short number types is unknown; known: auto, measure{}", name,
      known));
}

/// Seconds of `work`, queued on the context's stream: the least of several measurements.
template <class Work>
double seconds_of(CudaContext& context, const Work& work) {
  constexpr int kRuns = 10;  // in a measurement
  constexpr int kMeasurements = 5;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float least = 0;
  work();
  for (int k = 0; k < kMeasurements; ++k) {
    check(cudaEventRecord(begin, context.stream()));
    for (int run = 0; run < kRuns; ++run) work();
    check(cudaEventRecord(end, context.stream()));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    least = k == 0 ? ms : std::min(least, ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return 1e-3 * static_cast<double>(least) / kRuns;
}

/// Seconds of a product of N columns, of zeros.
template <class V>
double measured(CudaContext& context, detail::ShortMatrix<V>& matrix,
                const CsrView<V, DeviceSpace>& A, Index N) {
  NarrowBlock<V, DeviceSpace> B(context, A.cols, N), C(context, A.rows, N);
  const NarrowView<V, DeviceSpace> b = B.columns(N), c = C.columns(N);
  check(cudaMemsetAsync(b.data(), 0, static_cast<std::size_t>(A.cols * b.ld()) * sizeof(V),
                        context.stream()));
  const detail::ShortBlock<V> in{b.data(), static_cast<std::int32_t>(A.cols), bytes_of<V>(b.ld()),
                                 matrix.column_order()};
  detail::StepBlock<V> out;
  out.values = c.data();
  out.rows = static_cast<std::int32_t>(A.rows);
  out.N = static_cast<std::int32_t>(c.cols());
  out.ld = c.ld();
  return seconds_of(context, [&] { matrix.multiply(context, in, out); });
}

}  // namespace

std::vector<std::string_view> low_precision_kernels() {
  std::vector<std::string_view> names;
  for (const detail::ShortKernel& kernel : detail::short_kernels()) names.push_back(kernel.name);
  return names;
}

template <class V>
template <Scalar T>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                                                   const LowPrecisionOptions& options)
    : scaling_(options.scaling), A_{A.rows, A.cols, A.nnz} {
  HostContext host(1);
  set_matrix(context, host, A, nullptr, options);
}

template <class V>
template <Scalar T>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(CudaContext& context, HostContext& host,
                                                   CsrView<T, HostSpace> A,
                                                   const LowPrecisionOptions& options)
    : scaling_(options.scaling), A_{A.rows, A.cols, A.nnz} {
  const RowPattern pattern = pattern_of(A);
  check_order(pattern, options.order);
  const CsrMatrix<T, DeviceSpace> there = place(context, A);
  set_matrix<T>(context, host, there.view(), &pattern, options);
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, CudaContext>::set_matrix(CudaContext& context, HostContext& host,
                                                  CsrView<T, DeviceSpace> A,
                                                  const RowPattern* pattern,
                                                  const LowPrecisionOptions& options) {
  detail::RoundedValues<V> rounded = detail::round_values<V>(context, A, scaling_, options.factor);
  if (rounded.refused) {  // the host says where
    const HostCsrMatrix<T> there = fetch<T>(context, host, A);
    heddle::row_exponents(host, there.view(), scaling_, V::kLargest,
                          limits_of(precision_of<V>()).name, options.factor);
  }
  row_exponents_ = std::move(rounded.row_exponents);
  if (scaling_ == RangeScaling::powers_of_two) {
    host_row_exponents_.resize(static_cast<std::size_t>(A_.rows));
    context.copy_to_host(host_row_exponents_.data(), row_exponents_.data(),
                         host_row_exponents_.size() * sizeof(std::int32_t));
  }
  choose(context, host, {A.rows, A.cols, A.nnz, A.row_offsets, A.columns, rounded.values.data()},
         pattern, options);
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::choose(CudaContext& context, HostContext& host,
                                              const CsrView<V, DeviceSpace>& A,
                                              const RowPattern* pattern,
                                              const LowPrecisionOptions& options) {
  const detail::ShortInput<V> input{context, host, A, options.order};
  const detail::ProductCounts counts = detail::count_product(input, pattern, options.columns);
  const bool measures = options.kernel == "measure";
  if (!measures && options.kernel != "auto") {
    kernel_ = &named(options.kernel);
    if (kernel_->seconds(counts) == std::numeric_limits<double>::infinity()) {
      throw InvalidArgument(
          fmt::format("kernel {} does not take this matrix on {}: it has no "
                      "tensor cores for {}, or B has no room in shared memory",
                      kernel_->name, context.device().name, limits_of(precision_of<V>()).name));
    }
    reason_ = "as requested";
    matrix_ = kernel_->make(input);
    return;
  }
  std::vector<Candidate> times = candidates(counts, pattern != nullptr);
  if (measures) {
    for (auto& [kernel, seconds] : times) {
      seconds = measured(context, *kernel->make(input), A, options.columns);
    }
    std::ranges::stable_sort(times, {}, &Candidate::seconds);
  }
  kernel_ = times.front().kernel;
  reason_ = fmt::format("{} for {} columns: {}", measures ? "measured" : "predicted",
                        options.columns, times_of(times));
  matrix_ = kernel_->make(input);
}

template <class V>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(LowPrecisionPlan&&) noexcept = default;
template <class V>
LowPrecisionPlan<V, CudaContext>& LowPrecisionPlan<V, CudaContext>::operator=(
    LowPrecisionPlan&&) noexcept = default;
template <class V>
LowPrecisionPlan<V, CudaContext>::~LowPrecisionPlan() = default;

template <class V>
std::string_view LowPrecisionPlan<V, CudaContext>::kernel() const noexcept {
  return kernel_->name;
}

template <class V>
bool LowPrecisionPlan<V, CudaContext>::follows_order() const noexcept {
  return kernel_->follows_order;
}

template <class V>
template <class T>
detail::ShortBlock<V> LowPrecisionPlan<V, CudaContext>::rounded(CudaContext& context,
                                                                ConstBlockView<T, DeviceSpace> B) {
  constexpr Index kPiece = kVectorBytes / static_cast<Index>(sizeof(V));
  detail::Rounding<V, T> rounding;
  rounding.B = B.data();
  rounding.B_rows = B.rows();
  rounding.N = B.cols();
  rounding.row_step = B.ld();
  rounding.order = matrix_->column_order();
  rounding.rows = (A_.cols + kShape.width - 1) / kShape.width * kShape.width;
  rounding.columns = rounding.pitch = (B.cols() + kPiece - 1) / kPiece * kPiece;
  detail::cuda::grow(context, B_, rounding.rows * rounding.pitch);
  rounding.result = B_.data();
  if constexpr (!std::is_same_v<T, V>) {
    if (scaled_) {
      detail::cuda::grow(context, column_exponents_, rounding.N);
      detail::cuda::grow(context, largest_exponents_, rounding.N * detail::kExponentBlocks);
      detail::grow_counters(context, arrived_blocks_, rounding.N);
      rounding.exponents = column_exponents_.data();
      rounding.largest = largest_exponents_.data();
      rounding.arrived = arrived_blocks_.data();
      detail::find_column_exponents(context, rounding);
    }
  }
  detail::round_block(context, rounding);
  return {B_.data(), static_cast<std::int32_t>(rounding.rows), bytes_of<V>(rounding.pitch),
          nullptr};
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply_short(CudaContext& context,
                                                      const detail::ShortBlock<V>& B,
                                                      BlockView<float, DeviceSpace> C) {
  matrix_->multiply(
      context, B,
      detail::ScaledBlock{C.data(), static_cast<std::int32_t>(C.rows()),
                          static_cast<std::int32_t>(C.cols()), C.ld(), row_exponents_.data(),
                          scaled_ ? column_exponents_.data() : nullptr});
  count(context, C.cols(),
        static_cast<double>(A_.cols) * sizeof(V) + static_cast<double>(A_.rows) * sizeof(float));
}

template <class V>
template <class T>
void LowPrecisionPlan<V, CudaContext>::multiply_rounded(CudaContext& context,
                                                        ConstBlockView<T, DeviceSpace> B,
                                                        BlockView<float, DeviceSpace> C) {
  detail::check_shapes("C = A B", A_, A_.rows, A_.cols, B, C);
  columns_of_B_ = B.cols();
  scaled_ = !std::is_same_v<T, V> && scaling_ == RangeScaling::powers_of_two;
  if (!C.empty()) multiply_short(context, rounded(context, B), C);
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                ConstBlockView<T, DeviceSpace> B,
                                                BlockView<float, DeviceSpace> C) {
  multiply_rounded(context, B, C);
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                ConstBlockView<V, DeviceSpace> B,
                                                BlockView<float, DeviceSpace> C) {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(B.data()) % kVectorBytes == 0 &&
      B.ld() * static_cast<Index>(sizeof(V)) % kVectorBytes == 0 &&
      B.ld() <= std::numeric_limits<std::int32_t>::max() / static_cast<Index>(sizeof(V));
  if (!aligned) return multiply_rounded(context, B, C);
  detail::check_shapes("C = A B", A_, A_.rows, A_.cols, B, C);
  columns_of_B_ = B.cols();
  scaled_ = false;
  if (C.empty()) return;
  multiply_short(
      context,
      {B.data(), static_cast<std::int32_t>(A_.cols), bytes_of<V>(B.ld()), matrix_->column_order()},
      C);
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context, float alpha,
                                                ConstNarrowView<V, DeviceSpace> B,
                                                const NarrowTerms<V, DeviceSpace>& terms,
                                                NarrowView<V, DeviceSpace> C) {
  detail::require_unscaled(scaling_);
  detail::check_shapes("C = A B", A_, A_.rows, A_.cols, B, C);
  detail::check_terms(A_, terms, C);
  if (C.empty()) return;
  matrix_->multiply(
      context,
      {B.data(), static_cast<std::int32_t>(A_.cols), bytes_of<V>(B.ld()), matrix_->column_order()},
      detail::StepBlock<V>{C.data(), static_cast<std::int32_t>(C.rows()),
                           static_cast<std::int32_t>(C.cols()), C.ld(), B.data(), B.ld(),
                           terms.X.data(), terms.X.ld(), alpha, terms.beta, terms.gamma,
                           terms.delta});
  const int blocks = 1 + (terms.beta != 0 ? 1 : 0) + (terms.delta != 0 ? 1 : 0);
  count(context, C.cols(), static_cast<double>(A_.cols + blocks * A_.rows) * sizeof(V));
}

/// `block_bytes`: of the blocks, per column.
template <class V>
void LowPrecisionPlan<V, CudaContext>::count(CudaContext& context, Index columns,
                                             double block_bytes) const {
  const auto N = static_cast<double>(columns);
  context.profile().count(matrix_->bytes() + N * block_bytes, 2 * static_cast<double>(A_.nnz) * N);
}

template <class V>
std::vector<std::int32_t> LowPrecisionPlan<V, CudaContext>::column_exponents(
    CudaContext& context) const {
  std::vector<std::int32_t> exponents(static_cast<std::size_t>(columns_of_B_));
  if (scaled_ && !exponents.empty()) {
    context.copy_to_host(exponents.data(), column_exponents_.data(),
                         exponents.size() * sizeof(std::int32_t));
  }
  return exponents;
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                  \
  template LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(                        \
      CudaContext&, CsrView<T, DeviceSpace>, const LowPrecisionOptions&);             \
  template LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(                        \
      CudaContext&, HostContext&, CsrView<T, HostSpace>, const LowPrecisionOptions&); \
  template void LowPrecisionPlan<V, CudaContext>::multiply(                           \
      CudaContext&, ConstBlockView<T, DeviceSpace>, BlockView<float, DeviceSpace>);
#define HEDDLE_INSTANTIATE(V)                      \
  template class LowPrecisionPlan<V, CudaContext>; \
  HEDDLE_INSTANTIATE_FOR(V, float)                 \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
