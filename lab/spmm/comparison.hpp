#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/model.hpp>
#include <string>
#include <vector>

namespace heddle::lab {

/// The result of one kernel on one matrix and width.
struct KernelTiming {
  std::string kernel;   ///< a name with "column-major" states a layout that is not row-major
  double warm_ms = 0;   ///< median, products queued one after the other
  double cold_ms = 0;   ///< median, the caches overwritten before each
  double error = 0;     ///< largest |entry − reference| over ε times the size of its sum
  std::string failure;  ///< the reason why there are no numbers, empty if there are
};

/// One matrix, precision and width.
struct WidthComparison {
  Index N = 0;
  double compulsory_bytes = 0;
  double flops = 0;
  std::string chosen;  ///< the kernel of `SpmmOptions::kernel` = "auto", and why
  std::string reason;
  std::vector<KernelTiming> kernels;
  std::vector<KernelPrediction> predictions;  ///< the fastest first

  /// The prediction for a kernel, null if the model does not know it.
  const KernelPrediction* prediction(const std::string& kernel) const;

  /// The time of the fastest cuSPARSE algorithm in any layout, warm. 0 if none ran.
  double best_cusparse_ms() const;
  /// The time of heddle's fastest kernel, warm. 0 if none ran.
  double best_own_ms() const;
  /// The time of a kernel, warm. 0 if it did not run.
  double measured_ms(const std::string& kernel) const;
  /// The same of the chosen kernel.
  double chosen_ms() const { return measured_ms(chosen); }
};

/// The features of a matrix that the choice is made by, and its widths.
struct KernelComparison {
  MatrixFeatures features;
  std::vector<WidthComparison> widths;
};

struct ComparisonOptions {
  std::vector<Index> widths = {8, 16, 32, 64};
  std::vector<std::string> kernels;  ///< of heddle's own; none: all
  bool cusparse = true;              ///< all its CSR algorithms, row- and column-major
};

/// Compares every kernel's result with sums in double on the host at evenly spaced rows, then times
/// the kernel. A kernel that fails or is wrong is reported and not timed. Throws `InvalidArgument`
/// for an unknown kernel, `OutOfMemory` if A, B and C do not fit.
template <Scalar T>
KernelComparison compare_kernels(CudaContext& context, const CsrView<T, HostSpace>& A,
                                 const ComparisonOptions& options);

}  // namespace heddle::lab
