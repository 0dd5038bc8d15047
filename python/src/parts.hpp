#pragma once

#include <optional>

#include "bindings.hpp"

namespace heddle::python {

/// The parts of a problem in Python, which live as long as the call. `M`: matrices, `X`: blocks, of
/// NumPy or in the memory of a device.
template <class M, class X>
struct Parts {
  const M& A;
  const M* B;
  const std::optional<X>& rhs;
  const std::optional<X>& initial_guess;
  const std::optional<X>& constraints;
  const M* preconditioner;
  const M* A_transposed;
  bool normal_equations;
  const std::optional<Array2>& near_null;
  const std::optional<Array2>& coordinates;

  /// The problem of the library. `of` converts a matrix or a block.
  template <class Problem, class Of>
  Problem problem(const Of& of) const {
    Problem made;
    made.A = of(A);
    if (B != nullptr) made.B = of(*B);
    if (rhs) made.rhs = of(*rhs);
    if (initial_guess) made.initial_guess = of(*initial_guess);
    if (constraints) made.constraints = of(*constraints);
    if (preconditioner != nullptr) made.preconditioner = of(*preconditioner);
    if (A_transposed != nullptr) made.A_transposed = of(*A_transposed);
    made.normal_equations = normal_equations;
    if (near_null) made.near_null = block_of(*near_null);
    if (coordinates) made.coordinates = block_of(*coordinates);
    return made;
  }
};

}  // namespace heddle::python
