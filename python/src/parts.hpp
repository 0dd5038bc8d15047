#pragma once

#include <optional>

#include "bindings.hpp"

namespace heddle::python {

/// The parts of a problem in Python. `M`: matrices, which live as long as the object that binds
/// this. `X`: blocks, of NumPy or in the memory of a device.
template <class M, class X>
struct Parts {
  const M* A = nullptr;
  const M* B = nullptr;
  std::optional<X> rhs{};
  std::optional<X> initial_guess{};
  std::optional<X> constraints{};
  const M* preconditioner = nullptr;
  const M* A_transposed = nullptr;
  bool normal_equations = false;
  std::optional<Array2<double>> near_null{};
  std::optional<Array2<double>> coordinates{};
  const M* geometric_stiffness = nullptr;

  /// The problem of the library. `of` converts a matrix or a block.
  template <class Problem, class Of>
  Problem problem(const Of& of) const {
    Problem made;
    made.A = of(*A);
    if (B != nullptr) made.B = of(*B);
    if (rhs) made.rhs = of(*rhs);
    if (initial_guess) made.initial_guess = of(*initial_guess);
    if (constraints) made.constraints = of(*constraints);
    if (preconditioner != nullptr) made.preconditioner = of(*preconditioner);
    if (A_transposed != nullptr) made.A_transposed = of(*A_transposed);
    made.normal_equations = normal_equations;
    if (near_null) made.near_null = block_of(*near_null);
    if (coordinates) made.coordinates = block_of(*coordinates);
    if (geometric_stiffness != nullptr) made.geometric_stiffness = of(*geometric_stiffness);
    return made;
  }
};

/// Binds `Parts<M, X>` as the class `name`, whose constructor takes the parts by their names and
/// keeps them alive.
template <class M, class X>
void bind_parts(nb::module_& m, const char* name, const char* doc) {
  using namespace nb::literals;
  using P = Parts<M, X>;
  using OptionalBlock = std::optional<X>;
  using Table = std::optional<Array2<double>>;
  nb::class_<P>(m, name, doc)
      .def(
          "__init__",
          [](P* self, const M& A, const M* B, OptionalBlock rhs, OptionalBlock initial_guess,
             OptionalBlock constraints, const M* preconditioner, const M* A_transposed,
             bool normal_equations, Table near_null, Table coordinates,
             const M* geometric_stiffness) {
            new (self) P{&A,
                         B,
                         std::move(rhs),
                         std::move(initial_guess),
                         std::move(constraints),
                         preconditioner,
                         A_transposed,
                         normal_equations,
                         std::move(near_null),
                         std::move(coordinates),
                         geometric_stiffness};
          },
          "A"_a, nb::kw_only(), "B"_a = nb::none(), "rhs"_a.noconvert() = nb::none(),
          "initial_guess"_a.noconvert() = nb::none(), "constraints"_a.noconvert() = nb::none(),
          "preconditioner"_a = nb::none(), "A_transposed"_a = nb::none(),
          "normal_equations"_a = false, "near_null"_a.noconvert() = nb::none(),
          "coordinates"_a.noconvert() = nb::none(), "geometric_stiffness"_a = nb::none(),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 7>(),
          nb::keep_alive<1, 8>(), nb::keep_alive<1, 12>());
}

}  // namespace heddle::python
