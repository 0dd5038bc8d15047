#pragma once

#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <span>
#include <string_view>

namespace heddle::detail {

/// What a library can do with A − σB.
struct FactorLibraryRow {
  std::string_view name;
  bool definite;            ///< whether heddle factors positive definite matrices by it
  MakeFactor<double> make;  ///< factors indefinite ones. Null: heddle factors none by it
  bool pivots;              ///< whether it chooses pivots for stability
  bool on_device;           ///< whether it works in the memory of a GPU
  std::string_view licence;
  std::string_view cost;  ///< orders and speed
  /// Of an indefinite factorisation: the costs per row of A of its order, per operation, and per
  /// entry of L and column of a solve, in units of `FactorRates` on the host.
  double row = 0, operation = 0, solve = 0;

  bool inertia() const noexcept { return make != nullptr; }
};

/// All libraries, the best one for indefinite matrices first.
std::span<const FactorLibraryRow> factor_libraries();

/// The row of the library for indefinite matrices: the first one that is there.
const FactorLibraryRow& indefinite_library();

}  // namespace heddle::detail
