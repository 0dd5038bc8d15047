#include "spmm/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/column_major.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <random>

#include "spmm/cusparse_spmm.hpp"
#include "spmm/stopwatch.hpp"

namespace heddle::lab {
namespace {

/// An error above this multiple of ε·√length times the size of the sum counts as wrong, not as
/// rounding.
constexpr double kWrong = 64;

/// The largest number of rows that are checked.
constexpr Index kCheckedRows = 1024;

/// The choice of "auto" with blocks by columns.
constexpr const char* kByColumns = "auto column-major";

bool is_cusparse(const std::string& kernel) { return kernel.starts_with("cusparse"); }

double fastest(const std::vector<KernelTiming>& kernels, bool cusparse) {
  double best = 0;
  for (const KernelTiming& timing : kernels) {
    if (is_cusparse(timing.kernel) != cusparse || !timing.failure.empty()) continue;
    if (best == 0 || timing.warm_ms < best) best = timing.warm_ms;
  }
  return best;
}

/// A matrix copied to the device.
template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(CudaContext& context, const CsrView<T, HostSpace>& A)
      : rows_(A.rows),
        cols_(A.cols),
        nnz_(A.nnz),
        offsets_(upload(context, A.row_offsets, A.rows + 1)),
        columns_(upload(context, A.columns, A.nnz)),
        values_(upload(context, A.values, A.nnz)) {}

  CsrView<T, DeviceSpace> view() const {
    return {rows_, cols_, nnz_, offsets_.data(), columns_.data(), values_.data()};
  }

 private:
  template <class U>
  static Buffer<U, DeviceSpace> upload(CudaContext& context, const U* host, Index count) {
    const auto size = static_cast<std::size_t>(count);
    Buffer<U, DeviceSpace> device(context, size);
    if (size > 0) context.copy_to_device(device.data(), host, size * sizeof(U));
    return device;
  }

  Index rows_;
  Index cols_;
  Index nnz_;
  Buffer<std::int64_t, DeviceSpace> offsets_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<T, DeviceSpace> values_;
};

/// The blocks of one comparison, allocated for the largest width. B's entries are stored on the
/// host, too. Entry k of B's memory is the same for every width and layout.
template <class T>
class Operands {
 public:
  Operands(CudaContext& context, const CsrView<T, HostSpace>& A, Index widest)
      : host_(static_cast<std::size_t>(A.cols * padded_ld<T>(widest))),
        B_(context, host_.size()),
        C_(context, static_cast<std::size_t>(A.rows * padded_ld<T>(widest))) {
    std::minstd_rand engine(1);
    constexpr double kScale = 2.0 / std::minstd_rand::max();
    const auto uniform = [&] {
      return static_cast<RealOf<T>>(kScale * static_cast<double>(engine()) - 1);
    };
    for (T& value : host_) {
      value = uniform();
      if constexpr (kComplex<T>) value.imag(uniform());
    }
    if (!host_.empty()) context.copy_to_device(B_.data(), host_.data(), host_.size() * sizeof(T));
  }

  const T* host() const noexcept { return host_.data(); }
  const T* B() const noexcept { return B_.data(); }
  T* C() noexcept { return C_.data(); }
  std::size_t bytes_of_C() const noexcept { return C_.size() * sizeof(T); }

 private:
  std::vector<T> host_;
  Buffer<T, DeviceSpace> B_;
  Buffer<T, DeviceSpace> C_;
};

/// A kernel under test, which queues C = A B on the operands.
struct Candidate {
  std::string name;
  bool column_major = false;
  std::function<void()> multiply;
};

template <class T>
class Comparison {
 public:
  Comparison(CudaContext& context, const CsrView<T, HostSpace>& A, const ComparisonOptions& options)
      : context_(context),
        A_(A),
        options_(options),
        device_(context, A),
        operands_(context, A, *std::max_element(options.widths.begin(), options.widths.end())),
        stopwatch_(context) {
    const std::vector<std::string_view>& all = spmm_kernels(context);
    for (const std::string& name : options.kernels) {
      if (std::find(all.begin(), all.end(), name) == all.end()) {
        throw InvalidArgument(fmt::format("SpMM kernel '{}' is not known for CUDA; known: {}", name,
                                          fmt::join(all, ", ")));
      }
    }
    for (const std::string_view known : all) {
      const auto& asked = options.kernels;
      if (asked.empty() || std::find(asked.begin(), asked.end(), known) != asked.end()) {
        kernels_.emplace_back(known);
      }
    }
  }

  WidthComparison run(Index N) {
    N_ = N;
    const SpmmPlan<T, CudaContext> automatic(context_, device_.view());
    WidthComparison result;
    result.N = N;
    result.compulsory_bytes = automatic.compulsory_bytes(N);
    result.flops = (kComplex<T> ? 8 : 2) * static_cast<double>(A_.nnz) * static_cast<double>(N);
    result.chosen = automatic.kernel(N);
    result.reason = automatic.reason(N);
    result.predictions =
        predict_kernels(automatic.features(), N, sizeof(T), device_speed(context_));
    features_ = automatic.features();
    for (const std::string& name : kernels_) {
      result.kernels.push_back(guarded(name, [&] { return row_major(name); }));
    }
    if constexpr (RealScalar<T>) {
      result.kernels.push_back(guarded(kByColumns, [&] { return by_columns(automatic); }));
    }
    for (const CusparseLayout layout : {CusparseLayout::by_rows, CusparseLayout::by_columns}) {
      for (int algorithm = 1; options_.cusparse && algorithm <= 3; ++algorithm) {
        const std::string name =
            fmt::format("cusparse_alg{}{}", algorithm,
                        layout == CusparseLayout::by_rows ? "" : " column-major");
        result.kernels.push_back(guarded(name, [&] { return vendor(name, algorithm, layout); }));
      }
    }
    return result;
  }

  const MatrixFeatures& features() const noexcept { return features_; }

 private:
  template <class F>
  KernelTiming guarded(const std::string& name, F&& time) {
    try {
      return time();
    } catch (const Error& error) {
      KernelTiming timing;
      timing.kernel = name;
      timing.failure = error.what();
      return timing;
    }
  }

  KernelTiming row_major(const std::string& name) {
    const SpmmPlan<T, CudaContext> plan(context_, device_.view(), {name});
    plan.prepare(context_, N_);
    const Index ld = padded_ld<T>(N_);
    return check_and_time({name, false, [&] {
                             plan.multiply(
                                 context_, T{1},
                                 ConstBlockView<T, DeviceSpace>(operands_.B(), A_.cols, N_, ld),
                                 T{0}, BlockView<T, DeviceSpace>(operands_.C(), A_.rows, N_, ld));
                           }});
  }

  KernelTiming by_columns(const SpmmPlan<T, CudaContext>& plan) requires RealScalar<T> {
    ColumnMajorProduct<T, CudaContext> product(plan, A_.rows, A_.cols);
    return check_and_time({kByColumns, true, [&] {
                             product.multiply(context_, T{1}, {operands_.B(), N_, A_.cols, A_.cols},
                                              T{0}, {operands_.C(), N_, A_.rows, A_.rows});
                           }});
  }

  KernelTiming vendor(const std::string& name, int algorithm, CusparseLayout layout) {
    const bool by_columns = layout == CusparseLayout::by_columns;
    const Index ld = padded_ld<T>(N_);
    const CusparseSpmm<T> product(context_, device_.view(), algorithm, layout,
                                  {operands_.B(), A_.cols, N_, by_columns ? A_.cols : ld},
                                  {operands_.C(), A_.rows, N_, by_columns ? A_.rows : ld});
    return check_and_time({name, by_columns, [&] { product.multiply(); }});
  }

  KernelTiming check_and_time(const Candidate& candidate) {
    KernelTiming timing;
    timing.kernel = candidate.name;
    stopwatch_.overwrite(operands_.C(), operands_.bytes_of_C());
    candidate.multiply();
    timing.error = largest_error(candidate.column_major);
    if (!(timing.error <= kWrong)) {
      timing.failure = fmt::format("wrong: off by {:.3g} rounding errors", timing.error);
      return timing;
    }
    timing.warm_ms = stopwatch_.warm_ms(candidate.multiply);
    timing.cold_ms = stopwatch_.cold_ms(candidate.multiply);
    return timing;
  }

  /// The largest |entry − sum in double| / (ε·√length·Σ|a·b|) over evenly spaced rows.
  double largest_error(bool column_major) {
    const Index ld = padded_ld<T>(N_);
    const auto width = static_cast<std::size_t>(N_);
    const Index step = std::max<Index>(1, A_.rows / kCheckedRows);
    const Index row_stride = column_major ? 1 : ld;
    const Index column_stride = column_major ? A_.rows : 1;
    const auto checked = static_cast<std::size_t>((A_.rows + step - 1) / step);
    std::vector<T> rows(checked * width);
    for (std::size_t j = 0; j < (column_major ? width : 1); ++j) {
      const std::size_t count = column_major ? 1 : width;
      context_.copy_to_host(rows.data() + j * checked, count * sizeof(T),
                            operands_.C() + static_cast<Index>(j) * column_stride,
                            static_cast<std::size_t>(step * row_stride) * sizeof(T),
                            count * sizeof(T), checked);
    }
    double worst = 0;
    for (std::size_t r = 0; r < checked; ++r) {
      for (std::size_t j = 0; j < width; ++j) {
        const T entry = column_major ? rows[j * checked + r] : rows[r * width + j];
        worst = std::max(worst, error_of(entry, static_cast<Index>(r) * step, static_cast<Index>(j),
                                         column_major));
      }
    }
    return worst;
  }

  double error_of(T entry, Index row, Index column, bool column_major) const {
    const Index ld = padded_ld<T>(N_);
    Wide<T> sum = 0;
    double size = 0;
    const Index end = A_.row_offsets[row + 1];
    for (Index k = A_.row_offsets[row]; k < end; ++k) {
      const Index from = A_.columns[k];
      const auto b = static_cast<Wide<T>>(
          operands_.host()[column_major ? column * A_.cols + from : from * ld + column]);
      const Wide<T> term = static_cast<Wide<T>>(A_.values[k]) * b;
      sum += term;
      size += std::abs(term);
    }
    const double difference = std::abs(static_cast<Wide<T>>(entry) - sum);
    if (difference == 0) return 0;
    const double length = static_cast<double>(end - A_.row_offsets[row]);
    const double rounding =
        static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * std::sqrt(length) * size;
    return std::isnan(difference) || rounding == 0 ? std::numeric_limits<double>::infinity()
                                                   : difference / rounding;
  }

  CudaContext& context_;
  const CsrView<T, HostSpace>& A_;
  const ComparisonOptions& options_;
  DeviceMatrix<T> device_;
  Operands<T> operands_;
  Stopwatch stopwatch_;
  std::vector<std::string> kernels_;
  MatrixFeatures features_;
  Index N_ = 0;
};

}  // namespace

double WidthComparison::best_cusparse_ms() const { return fastest(kernels, true); }

double WidthComparison::best_own_ms() const { return fastest(kernels, false); }

double WidthComparison::measured_ms(const std::string& kernel) const {
  for (const KernelTiming& timing : kernels) {
    if (timing.kernel == kernel && timing.failure.empty()) return timing.warm_ms;
  }
  return 0;
}

const KernelPrediction* WidthComparison::prediction(const std::string& kernel) const {
  const auto found = std::find_if(predictions.begin(), predictions.end(),
                                  [&](const auto& one) { return one.kernel == kernel; });
  return found == predictions.end() ? nullptr : &*found;
}

template <Scalar T>
KernelComparison compare_kernels(CudaContext& context, const CsrView<T, HostSpace>& A,
                                 const ComparisonOptions& options) {
  Comparison<T> comparison(context, A, options);
  KernelComparison result;
  for (const Index N : options.widths) result.widths.push_back(comparison.run(N));
  result.features = comparison.features();
  return result;
}

template KernelComparison compare_kernels(CudaContext&, const CsrView<float, HostSpace>&,
                                          const ComparisonOptions&);
template KernelComparison compare_kernels(CudaContext&, const CsrView<double, HostSpace>&,
                                          const ComparisonOptions&);
template KernelComparison compare_kernels(CudaContext&,
                                          const CsrView<std::complex<double>, HostSpace>&,
                                          const ComparisonOptions&);

}  // namespace heddle::lab
