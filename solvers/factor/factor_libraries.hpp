#pragma once

#include <heddle/solvers/factor/factor_estimate.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <span>
#include <string>
#include <string_view>

namespace heddle::detail {

/// What a library can do with A − σB.
struct FactorLibraryRow {
  std::string_view name;
  bool definite;            ///< whether heddle factors positive definite matrices by it
  bool inertia;             ///< whether heddle factors indefinite ones, and counts eigenvalues
  MakeFactor<double> make;  ///< factors indefinite ones on the host. Null: it does not
  MakeFactor<double> make_hermitian;  ///< the same, of real forms of Hermitian ones
  bool pivots;     ///< whether pivots are chosen for stability in all of the matrix
  bool on_device;  ///< whether it works in the memory of a GPU
  std::string_view licence;
  std::string_view cost;  ///< orders and speed
  /// Of an indefinite factorisation: the costs per row of A of its order, per operation, and per
  /// entry of L and column of a solve, in units of `FactorRates` on the host. `cached`: per
  /// operation where L fits into a cache of 8 MiB.
  double row = 0, operation = 0, cached = 0, solve = 0;
  std::string (*missing)() = nullptr;  ///< why it cannot be used. Empty: it can
};

/// All libraries, the best one for indefinite matrices on the host first.
std::span<const FactorLibraryRow> factor_libraries();

/// The row of a name that is there.
const FactorLibraryRow& factor_library(std::string_view name);

/// The row of the library for indefinite matrices on the host: the first one that can be used.
const FactorLibraryRow& indefinite_library();

/// The estimated cost of one factorisation of an indefinite matrix by a library on the host.
double factorisation_cost(const FactorLibraryRow& library, const FactorCost& cost);

/// The row of the library on the host with the least estimated cost of an order and a factorisation
/// of an indefinite matrix with this number of rows. It may choose no pivots.
const FactorLibraryRow& cheapest_indefinite_library(Index rows, const FactorCost& cost);

}  // namespace heddle::detail
