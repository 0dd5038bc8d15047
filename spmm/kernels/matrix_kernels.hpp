#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>
#include <map>

namespace heddle::detail {

/// The kernels of one matrix, each created on first use, and the formats that they share.
template <class T, class Space>
class MatrixKernels {
 public:
  using Context = typename ContextOf<Space>::type;

  /// The matrix of the view must outlive this object.
  explicit MatrixKernels(const CsrView<T, Space>& A, const MatrixFeatures& features = {})
      : matrix_{A, features} {}

  KernelPlan<T, Space>& get(Context& context, const KernelRow<Space>& row) {
    std::unique_ptr<KernelPlan<T, Space>>& plan = plans_[&row];
    if (!plan) plan = row.make(context, matrix_);
    return *plan;
  }

  const CsrView<T, Space>& matrix() const noexcept { return matrix_.A; }
  const MatrixFeatures& features() const noexcept { return matrix_.features; }

 private:
  KernelMatrix<T, Space> matrix_;
  std::map<const KernelRow<Space>*, std::unique_ptr<KernelPlan<T, Space>>> plans_;
};

}  // namespace heddle::detail
