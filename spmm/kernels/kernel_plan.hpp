#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/kernels/format_cache.hpp>
#include <heddle/spmm/kernels/product.hpp>
#include <string>

namespace heddle::detail {

/// A matrix with the data that its kernels share.
template <class T, class Space>
struct KernelMatrix {
  CsrView<T, Space> A;
  MatrixFeatures features;  ///< on a GPU those of `device_features`; on the host all 0
  FormatCache formats = {};
};

/// A plan to multiply one matrix by one kernel. It owns the kernel's additional data: a format,
/// descriptors, or memory for partial sums. The matrix must outlive the plan. A plan serves one
/// call at a time.
template <class T, class Space>
class KernelPlan {
 public:
  using Context = typename ContextOf<Space>::type;

  virtual ~KernelPlan() = default;

  /// Allocates the memory that products of N columns need. After it, `run` allocates nothing for N
  /// or fewer columns, unless the kernel's traits state otherwise.
  virtual void prepare(Context& /*context*/, Index /*N*/) {}

  /// The product for the matrix of the plan, with α ≠ 0, at least one entry in A, and C not empty.
  /// Only a kernel whose traits say `epilogue` is given one. On a GPU the product is queued on the
  /// context's stream. `prepare` must have been called for N or more columns.
  virtual void run(Context& context, const SpmmProduct<T, Space>& product) = 0;

  /// How the kernel treats A for N columns, in one sentence without a full stop. Empty if the
  /// reason for choosing the kernel already explains it.
  virtual std::string reason(Index /*N*/) const { return {}; }
};

}  // namespace heddle::detail
