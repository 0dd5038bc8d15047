#pragma once

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/spmm.hpp>
#include <utility>

namespace heddle::detail {

/// A copy of Aᵀ with a plan of its own.
template <Scalar T, class Ctx>
class StoredTranspose {
 public:
  using Space = typename Ctx::Space;

  /// Takes Aᵀ itself.
  StoredTranspose(Ctx& context, CsrMatrix<T, Space> At, const SpmmOptions& options)
      : At_(std::move(At)), plan_(context, At_.view(), options) {}

  const SpmmPlan<T, Ctx>& plan() const noexcept { return plan_; }

 private:
  CsrMatrix<T, Space> At_;
  SpmmPlan<T, Ctx> plan_;
};

}  // namespace heddle::detail
