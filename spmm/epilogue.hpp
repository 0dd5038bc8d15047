#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// The terms that a product adds to α A B while it stores C, and a sum that C is added to:
///
///     C = α A B + β C + γ B' + δ X,    Y = Y + η C
///
/// B' is the rows of B that belong to the rows of C. For an A of one process that is all of B, and
/// A must be square. X and Y have the shape of C and lie in the memory of `Space`. A term whose
/// coefficient is 0 is absent: its operand is not read and may be empty or contain NaN. C must not
/// share entries with X, and Y none with B, C or X.
///
/// One step of a three-term recurrence thus takes one pass. At least, a product moves A, B and C,
/// and beside these C once more where β ≠ 0, X where δ ≠ 0, Y twice where η ≠ 0. B' costs nothing,
/// because it is part of B.
template <Scalar T, class Space>
struct SpmmEpilogue {
  T beta = T{0};   ///< β, for the old values of C
  T gamma = T{0};  ///< γ, for B'
  T delta = T{0};  ///< δ, for X
  ConstBlockView<T, Space> X = {};
  T eta = T{0};  ///< η, for C as a term of Y
  BlockView<T, Space> Y = {};
};

}  // namespace heddle
