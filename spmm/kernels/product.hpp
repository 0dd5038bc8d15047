#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// The operands of C = α A B + β C + γ B' + δ X, Y = Y + η C in the memory of `Space`, the argument
/// of every SpMM kernel. `SpmmEpilogue` describes the terms.
///
/// B is A.cols×N; C, X and Y are A.rows×N, row-major. Row i of B' is row i of B. An operand whose
/// coefficient is 0 is not read and may be uninitialised. C must not share memory with A, B or X, Y
/// none with the others.
template <class T, class Space>
struct SpmmProduct {
  using Value = T;
  static constexpr bool kTerms = true;  ///< false in derived types that never have γ, δ, η

  CsrView<T, Space> A;
  const T* B = nullptr;
  Index ldb = 0;
  T* C = nullptr;
  Index ldc = 0;
  Index N = 0;
  T alpha = 1;
  T beta = 0;
  T gamma = 0;
  T delta = 0;
  const T* X = nullptr;
  Index ldx = 0;
  T eta = 0;
  T* Y = nullptr;
  Index ldy = 0;

  /// Whether the product has terms that a kernel without an epilogue does not add.
  bool has_epilogue() const noexcept { return gamma != T{0} || delta != T{0} || eta != T{0}; }

  /// C = α A B + β C, the part of a kernel without an epilogue.
  SpmmProduct without_epilogue() const noexcept { return {A, B, ldb, C, ldc, N, alpha, beta}; }

  /// C = C + γ B' + δ X, Y = Y + η C, the part that then remains.
  SpmmProduct epilogue_alone() const noexcept {
    SpmmProduct rest = *this;
    rest.alpha = T{0};
    rest.beta = T{1};
    return rest;
  }
};

}  // namespace heddle::detail
