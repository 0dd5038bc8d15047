#include <array>
#include <heddle/solvers/factor/factor_libraries.hpp>

namespace heddle::detail {

std::span<const FactorLibraryRow> factor_libraries() {
  static constexpr std::array<FactorLibraryRow, 4> rows = {{
      {.name = "MUMPS",
       .definite = false,
       .make = mumps_factor,
       .pivots = true,
       .on_device = false,
       .licence = "CeCILL-C",
       .cost = "METIS or Scotch order, dense fronts by BLAS",
       .row = 72000,
       .operation = 3,
       .solve = 12},
      {.name = "Eigen",
       .definite = true,
       .make = eigen_factor,
       .pivots = false,
       .on_device = false,
       .licence = "MPL 2",
       .cost = "minimum degree order, column by column",
       .row = 15000,
       .operation = 6,
       .solve = 12},
      {.name = "CHOLMOD",
       .definite = true,
       .make = nullptr,
       .pivots = false,
       .on_device = false,
       .licence = "LGPL 2.1, Supernodal module GPL 2",
       .cost = "minimum degree or METIS order, dense blocks by BLAS"},
      {.name = "cuDSS",
       .definite = true,
       .make = nullptr,
       .pivots = false,
       .on_device = true,
       .licence = "of NVIDIA",
       .cost = "nested dissection on the host, factor and solves on the GPU"},
  }};
  return rows;
}

const FactorLibraryRow& indefinite_library() {
  const std::span<const FactorLibraryRow> rows = factor_libraries();
  return *mumps_missing() == '\0' ? rows[0] : rows[1];
}

}  // namespace heddle::detail
