#include "spmm_study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/column_major.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "spmm/cusparse_spmm.hpp"
#include "spmm/cusparse_spmv.hpp"
#include "spmm/stopwatch.hpp"

namespace heddle::lab {
namespace {

/// The number of rows whose results are checked. An error above `kWrong`·ε·√length times the size
/// of a row's sum counts as wrong, not as rounding.
constexpr Index kCheckedRows = 64;
constexpr double kWrong = 64;

enum class Layout { rows, columns };

/// Milliseconds on the host's clock until `work` is done on the device.
double host_ms(CudaContext& context, const std::function<void()>& work) {
  context.synchronize();
  const Clock::time_point begin = Clock::now();
  work();
  context.synchronize();
  return milliseconds_since(begin);
}

/// B and C for the widest block. Entry k of B's memory is `value(k)` for every width and layout.
template <class T>
class Operands {
 public:
  Operands(CudaContext& context, lab::Stopwatch& stopwatch, const CsrView<T, HostSpace>& A,
           Index widest)
      : period_(kPeriod),
        B_(context, static_cast<std::size_t>(A.cols * padded_ld<T>(widest))),
        C_(context, static_cast<std::size_t>(A.rows * padded_ld<T>(widest))) {
    std::minstd_rand engine(1);
    constexpr double kScale = 2.0 / std::minstd_rand::max();
    const auto uniform = [&] {
      return static_cast<RealOf<T>>(kScale * static_cast<double>(engine()) - 1);
    };
    for (T& value : period_) {
      value = uniform();
      if constexpr (kComplex<T>) value.imag(uniform());
    }
    std::size_t filled = std::min(period_.size(), B_.size());
    context.copy_to_device(B_.data(), period_.data(), filled * sizeof(T));
    while (filled < B_.size()) {
      const std::size_t more = std::min(filled, B_.size() - filled);
      stopwatch.copy(B_.data() + filled, B_.data(), more * sizeof(T));
      filled += more;
    }
  }

  Wide<T> value(Index k) const {
    return static_cast<Wide<T>>(period_[static_cast<std::size_t>(k) % period_.size()]);
  }
  const T* B() const noexcept { return B_.data(); }
  T* C() noexcept { return C_.data(); }
  std::size_t bytes_of_C() const noexcept { return C_.size() * sizeof(T); }

 private:
  static constexpr std::size_t kPeriod = 1'048'573;  // no multiple of a width

  std::vector<T> period_;
  Buffer<T, DeviceSpace> B_;
  Buffer<T, DeviceSpace> C_;
};

/// Sums in double of a few rows of C, and the rounding that they allow.
template <Scalar T>
struct Expected {
  std::vector<Wide<T>> sums;
  std::vector<double> rounding;
};

template <class T>
class MatrixStudy {
 public:
  MatrixStudy(CudaContext& context, const CsrView<T, HostSpace>& A, const StudyOptions& options)
      : context_(context),
        A_(A),
        options_(options),
        device_(on_device(context, A)),
        stopwatch_(context),
        operands_(context, stopwatch_, A,
                  *std::max_element(options.widths.begin(), options.widths.end())),
        step_(std::max<Index>(1, A.rows / kCheckedRows)) {}

  std::vector<StudyLine> run() {
    for (const std::string_view kernel : spmm_kernels(context_)) {
      if (kernel.find(options_.kernels) == std::string_view::npos) continue;
      if (takes(kernel)) row_major(std::string(kernel));
    }
    if (options_.vendor) {
      if constexpr (RealScalar<T>) by_columns();
      for (const lab::CusparseLayout layout :
           {lab::CusparseLayout::by_rows, lab::CusparseLayout::by_columns}) {
        for (const int algorithm : {1, 2, 3}) vendor_product(algorithm, layout);
      }
      if constexpr (RealScalar<T>) {
        for (const int algorithm : {1, 2}) vector_product(algorithm);
      }
    }
    for (const std::string& choice : options_.choices) chosen(choice);
    return std::move(lines_);
  }

 private:
  static CsrMatrix<T, DeviceSpace> on_device(CudaContext& context, const CsrView<T, HostSpace>& A) {
    HostContext host;
    return place(context, convert<T>(host, A));
  }

  /// Rows of B and C are aligned to 16 bytes, except for a single column, which is a vector.
  static Index ld_of(Index N) { return N == 1 ? 1 : padded_ld<T>(N); }

  StudyLine& add(std::string kernel, Index N) {
    StudyLine line;
    line.precision = kComplex<T> ? "complex" : sizeof(T) == sizeof(double) ? "double" : "single";
    line.N = N;
    line.kernel = std::move(kernel);
    lines_.push_back(std::move(line));
    return lines_.back();
  }

  /// Runs `work`. An error of heddle's becomes the line's failure.
  template <class F>
  void guarded(StudyLine& line, F&& work) {
    try {
      work();
    } catch (const Error& error) {
      line.failure = error.what();
    }
  }

  /// Whether a kernel takes numbers of type T.
  bool takes(std::string_view kernel) {
    try {
      const SpmmPlan<T, CudaContext> plan(context_, device_.view(), {std::string(kernel)});
      return true;
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  auto multiply_by(const SpmmPlan<T, CudaContext>& plan, Index N) {
    return [this, &plan, N] {
      const Index ld = ld_of(N);
      plan.multiply(context_, T{1}, ConstBlockView<T, DeviceSpace>(operands_.B(), A_.cols, N, ld),
                    T{0}, BlockView<T, DeviceSpace>(operands_.C(), A_.rows, N, ld));
    };
  }

  void row_major(const std::string& kernel) {
    std::optional<SpmmPlan<T, CudaContext>> plan;
    const double inspect_ms =
        host_ms(context_, [&] { plan.emplace(context_, device_.view(), SpmmOptions{kernel}); });
    for (const Index N : options_.widths) {
      StudyLine& line = add(kernel, N);
      line.inspect_ms = inspect_ms;
      guarded(line, [&] {
        line.prepare_ms = host_ms(context_, [&] { plan->prepare(context_, N); });
        check_and_time(line, Layout::rows, multiply_by(*plan, N));
      });
    }
  }

  /// heddle's product of blocks by columns, with the kernels of "auto".
  void by_columns() requires RealScalar<T> {
    const SpmmPlan<T, CudaContext> plan(context_, device_.view());
    ColumnMajorProduct<T, CudaContext> product(plan, A_.rows, A_.cols);
    for (const Index N : options_.widths) {
      StudyLine& line = add("auto_columns", N);
      guarded(line, [&] {
        check_and_time(line, Layout::columns, [&] {
          product.multiply(context_, T{1}, {operands_.B(), N, A_.cols, A_.cols}, T{0},
                           {operands_.C(), N, A_.rows, A_.rows});
        });
      });
    }
  }

  void vendor_product(int algorithm, lab::CusparseLayout layout) {
    const bool by_rows = layout == lab::CusparseLayout::by_rows;
    for (const Index N : options_.widths) {
      const Index ld = ld_of(N);
      StudyLine& line =
          add(fmt::format("cusparse_alg{}{}", algorithm, by_rows ? "" : "_columns"), N);
      guarded(line, [&] {
        std::optional<lab::CusparseSpmm<T>> vendor;
        line.prepare_ms = host_ms(context_, [&] {
          vendor.emplace(
              context_, device_.view(), algorithm, layout,
              lab::CusparseBlock<const T>{operands_.B(), A_.cols, N, by_rows ? ld : A_.cols},
              lab::CusparseBlock<T>{operands_.C(), A_.rows, N, by_rows ? ld : A_.rows});
        });
        check_and_time(line, by_rows ? Layout::rows : Layout::columns, [&] { vendor->multiply(); });
      });
    }
  }

  void vector_product(int algorithm) requires RealScalar<T> {
    if (std::find(options_.widths.begin(), options_.widths.end(), 1) == options_.widths.end()) {
      return;
    }
    StudyLine& line = add(fmt::format("cusparse_spmv_alg{}", algorithm), 1);
    guarded(line, [&] {
      const lab::CusparseSpmv<T> vendor(context_, device_.view(), algorithm, operands_.B(),
                                        operands_.C());
      check_and_time(line, Layout::columns, [&] { vendor.multiply(); });
    });
  }

  /// The kernel that a rule of choice takes. A choice by measuring is made in the first product.
  void chosen(const std::string& choice) {
    std::optional<SpmmPlan<T, CudaContext>> plan;
    const double inspect_ms =
        host_ms(context_, [&] { plan.emplace(context_, device_.view(), SpmmOptions{choice}); });
    for (const Index N : options_.widths) {
      StudyLine& line = add(choice, N);
      line.inspect_ms = inspect_ms;
      guarded(line, [&] {
        line.prepare_ms = host_ms(context_, multiply_by(*plan, N));
        line.choice = plan->kernel(N);
        for (const StudyLine& other : lines_) {
          if (other.kernel == line.choice && other.N == N) line.ms = other.ms;
        }
      });
    }
  }

  void check_and_time(StudyLine& line, Layout layout, const std::function<void()>& multiply) {
    stopwatch_.overwrite(operands_.C(), operands_.bytes_of_C());
    multiply();
    const double error = largest_error(line.N, layout);
    if (!(error <= kWrong)) {
      line.failure = fmt::format("wrong by {:.3g} rounding errors", error);
      return;
    }
    line.ms = stopwatch_.warm_ms(multiply, options_.budget_ms);
  }

  const Expected<T>& expected(Index N, Layout layout) {
    const auto [found, added] = expected_.try_emplace({N, layout});
    Expected<T>& rows = found->second;
    if (!added) return rows;
    const Index row_stride = layout == Layout::columns ? 1 : ld_of(N);
    const Index column_stride = layout == Layout::columns ? A_.cols : 1;
    for (Index i = 0; i < A_.rows; i += step_) {
      const Index end = A_.row_offsets[i + 1];
      const double length = static_cast<double>(end - A_.row_offsets[i]);
      for (Index j = 0; j < N; ++j) {
        Wide<T> sum = 0;
        double size = 0;
        for (Index k = A_.row_offsets[i]; k < end; ++k) {
          const Wide<T> term = static_cast<Wide<T>>(A_.values[k]) *
                               operands_.value(A_.columns[k] * row_stride + j * column_stride);
          sum += term;
          size += std::abs(term);
        }
        rows.sums.push_back(sum);
        rows.rounding.push_back(static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) *
                                std::sqrt(length) * size);
      }
    }
    return rows;
  }

  /// The largest |entry − sum in double| / (ε·√length·Σ|a·b|) over evenly spaced rows.
  double largest_error(Index N, Layout layout) {
    const Expected<T>& rows = expected(N, layout);
    const auto width = static_cast<std::size_t>(N);
    const std::size_t checked = rows.sums.size() / width;
    std::vector<T> found(rows.sums.size());
    if (layout == Layout::rows) {
      const auto pitch = static_cast<std::size_t>(step_ * ld_of(N)) * sizeof(T);
      context_.copy_to_host(found.data(), width * sizeof(T), operands_.C(), pitch,
                            width * sizeof(T), checked);
    } else {
      std::vector<T> column(checked);
      for (std::size_t j = 0; j < width; ++j) {
        context_.copy_to_host(column.data(), sizeof(T),
                              operands_.C() + static_cast<Index>(j) * A_.rows,
                              static_cast<std::size_t>(step_) * sizeof(T), sizeof(T), checked);
        for (std::size_t r = 0; r < checked; ++r) found[r * width + j] = column[r];
      }
    }
    double worst = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double difference = std::abs(static_cast<Wide<T>>(found[k]) - rows.sums[k]);
      if (difference == 0) continue;
      worst = std::isnan(difference) || rows.rounding[k] == 0
                  ? std::numeric_limits<double>::infinity()
                  : std::max(worst, difference / rows.rounding[k]);
    }
    return worst;
  }

  CudaContext& context_;
  const CsrView<T, HostSpace>& A_;
  const StudyOptions& options_;
  CsrMatrix<T, DeviceSpace> device_;
  lab::Stopwatch stopwatch_;
  Operands<T> operands_;
  Index step_;  ///< from one checked row to the next
  std::map<std::pair<Index, Layout>, Expected<T>> expected_;
  std::vector<StudyLine> lines_;
};

}  // namespace

template <Scalar T>
std::vector<StudyLine> study_matrix(CudaContext& context, const CsrView<T, HostSpace>& A,
                                    const StudyOptions& options) {
  return MatrixStudy<T>(context, A, options).run();
}

template std::vector<StudyLine> study_matrix(CudaContext&, const CsrView<float, HostSpace>&,
                                             const StudyOptions&);
template std::vector<StudyLine> study_matrix(CudaContext&, const CsrView<double, HostSpace>&,
                                             const StudyOptions&);
template std::vector<StudyLine> study_matrix(CudaContext&,
                                             const CsrView<std::complex<double>, HostSpace>&,
                                             const StudyOptions&);

}  // namespace heddle::lab
