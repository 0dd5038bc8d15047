#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/cusparse.hpp>
#include <heddle/spmm/kernels/cuda/merge_path.hpp>
#include <heddle/spmm/kernels/cuda/panels.hpp>
#include <heddle/spmm/select/select.hpp>
#include <optional>

namespace heddle::cuda {

/// Runs any of the kernels on one matrix, and keeps what they need beside A: merge paths, panels,
/// carries and parts, cuSPARSE's descriptors. Each is built when a kernel that needs it is
/// prepared.
template <class T>
class SpmmExecutor {
 public:
  /// A must outlive the executor.
  SpmmExecutor(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  /// Builds what `kernel` needs for N columns; afterwards `run` allocates nothing for N columns or
  /// fewer (the cuSPARSE kernels: for the same N and leading dimensions).
  void prepare(CudaKernel kernel, Index N);

  /// Queues the product, whose A is the executor's, with `kernel`, prepared for N columns or more.
  void run(CudaKernel kernel, const SpmmProduct<T>& product);

  const CsrView<T, DeviceSpace>& matrix() const noexcept { return A_; }
  const MatrixFeatures& features() const noexcept { return features_; }

 private:
  CudaContext* context_;
  CsrView<T, DeviceSpace> A_;
  MatrixFeatures features_;
  std::optional<MergePath> nonzero_path_;
  std::optional<MergePath> even_path_;
  std::optional<Panels<T>> panels_;
  std::optional<CusparseProduct<T>> cusparse_[3];
  Buffer<T, DeviceSpace> carries_;
  Buffer<double, DeviceSpace> parts_;
};

}  // namespace heddle::cuda
