#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// The operands of C = α A B + β C in the memory of `Space`, the argument of every SpMM kernel.
///
/// B is A.cols×N and C is A.rows×N, row-major. If β = 0, C is not read and may be uninitialised. C
/// must not share memory with A or B.
template <class T, class Space>
struct SpmmProduct {
  using Value = T;

  CsrView<T, Space> A;
  const T* B = nullptr;
  Index ldb = 0;
  T* C = nullptr;
  Index ldc = 0;
  Index N = 0;
  T alpha = 1;
  T beta = 0;
};

}  // namespace heddle::detail
