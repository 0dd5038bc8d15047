#include <algorithm>
#include <array>
#include <heddle/solvers/factor/cholesky_backend.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/factor/factor_libraries.hpp>

namespace heddle::detail {

std::span<const FactorLibraryRow> factor_libraries() {
  static constexpr std::array<FactorLibraryRow, 4> rows = {{
      {.name = "MUMPS",
       .definite = false,
       .inertia = true,
       .make = mumps_factor,
       .make_hermitian = mumps_factor,
       .pivots = true,
       .on_device = false,
       .licence = "CeCILL-C",
       .cost = "METIS or Scotch order, dense fronts by BLAS",
       .row = 72000,
       .operation = 3,
       .cached = 3,
       .solve = 12,
       .missing = [] { return std::string(mumps_missing()); }},
      {.name = "Eigen",
       .definite = true,
       .inertia = true,
       .make = eigen_factor,
       .make_hermitian = eigen_hermitian_factor,
       .pivots = false,
       .on_device = false,
       .licence = "MPL 2",
       .cost = "minimum degree order, column by column",
       .row = 15000,
       .operation = 6,
       .cached = 1.5,
       .solve = 12,
       .missing = [] { return std::string(); }},
      {.name = "CHOLMOD",
       .definite = true,
       .inertia = false,
       .make = nullptr,
       .make_hermitian = nullptr,
       .pivots = false,
       .on_device = false,
       .licence = "Core LGPL, Supernodal GPL 2 or later",
       .cost = "minimum degree or METIS order, dense blocks by BLAS",
       .missing =
           [] {
             return std::string(cholmod_cholesky() != nullptr ? ""
                                                              : "heddle was built without CHOLMOD");
           }},
      {.name = "cuDSS",
       .definite = true,
       .inertia = true,
       .make = nullptr,
       .make_hermitian = nullptr,
       .pivots = false,
       .on_device = true,
       .licence = "NVIDIA's",
       .cost = "nested dissection on the host, factor and solves on the GPU",
       .missing = [] { return cudss_missing(); }},
  }};
  return rows;
}

const FactorLibraryRow& factor_library(std::string_view name) {
  const std::span<const FactorLibraryRow> rows = factor_libraries();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const FactorLibraryRow& row) { return row.name == name; });
}

const FactorLibraryRow& indefinite_library() {
  const std::span<const FactorLibraryRow> rows = factor_libraries();
  return *std::find_if(rows.begin(), rows.end(), [](const FactorLibraryRow& row) {
    return row.make != nullptr && row.missing().empty();
  });
}

double factorisation_cost(const FactorLibraryRow& library, const FactorCost& cost) {
  constexpr double kCache = 8.0 * 1024 * 1024;
  constexpr double kBytesPerEntry = sizeof(double) + sizeof(int);
  const bool fits = kBytesPerEntry * cost.entries <= kCache;
  return (fits ? library.cached : library.operation) * cost.operations;
}

const FactorLibraryRow& cheapest_indefinite_library(Index rows, const FactorCost& cost) {
  const FactorLibraryRow* best = &indefinite_library();
  const auto cost_of = [&](const FactorLibraryRow& library) {
    return library.row * static_cast<double>(rows) + factorisation_cost(library, cost);
  };
  for (const FactorLibraryRow& row : factor_libraries()) {
    const bool usable = row.make != nullptr && row.missing().empty();
    if (usable && cost_of(row) < cost_of(*best)) best = &row;
  }
  return *best;
}

}  // namespace heddle::detail
