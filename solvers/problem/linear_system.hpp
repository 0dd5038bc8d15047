#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>

namespace heddle {

/// The linear systems A X = B for all columns of B at once, with A symmetric positive definite. The
/// struct owns none of its operators and blocks. They must outlive the solve.
template <Scalar T, class Ctx>
struct LinearSystem {
  using Space = typename Ctx::Space;

  LinearOperator<T, Ctx>* A = nullptr;               ///< n×n
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< M⁻¹ ≈ A⁻¹, SPD. Null: identity
  ConstBlockView<T, Space> B{};                      ///< n×b, b ≥ 1
  ConstBlockView<T, Space> initial_guess{};          ///< n×b, or empty: zero
};

}  // namespace heddle
