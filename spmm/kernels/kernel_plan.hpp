#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/kernels/format_cache.hpp>
#include <heddle/spmm/kernels/product.hpp>
#include <string>

namespace heddle::detail {

/// A matrix as its kernels see it.
template <class T, class Space>
struct KernelMatrix {
  CsrView<T, Space> A;
  MatrixFeatures features;  ///< on a GPU those of `device_features`; on the host all 0
  FormatCache formats = {};
};

/// One kernel for one matrix. Owns what the kernel keeps beside A: a format, descriptors, memory
/// for partial sums. The matrix must outlive it. A plan serves one call at a time.
template <class T, class Space>
class KernelPlan {
 public:
  using Context = typename ContextOf<Space>::type;

  virtual ~KernelPlan() = default;

  /// Allocates what products of N columns need. After it `run` allocates nothing for N columns or
  /// fewer, unless the kernel's traits say otherwise.
  virtual void prepare(Context& /*context*/, Index /*N*/) {}

  /// C = α A B + β C of the matrix that the plan was made for, with α ≠ 0, A with entries and C not
  /// empty. On a GPU it is queued on the context's stream. `prepare` was called for N columns or
  /// more.
  virtual void run(Context& context, const SpmmProduct<T, Space>& product) = 0;

  /// What the kernel makes of A for N columns, in one sentence without a full stop. Empty where the
  /// choice of the kernel says it all.
  virtual std::string reason(Index /*N*/) const { return {}; }
};

}  // namespace heddle::detail
