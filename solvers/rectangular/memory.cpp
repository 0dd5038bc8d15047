#include <algorithm>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>
#include <heddle/solvers/rectangular/collected.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/singular_route.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>

namespace heddle {
namespace {

using detail::padded_columns;
using detail::SingularRoute;

double as_double(Index count) { return static_cast<double>(count); }

BlockLanczosOptions lanczos_options(const SingularOptions& options) {
  return {static_cast<const EigenOptions&>(options)};
}

/// The bytes of the eigensolver on AᴴA.
double eigensolver_memory_bytes(const SingularOptions& options,
                                const detail::DecompositionCost& decomposition,
                                std::size_t scalar_size) {
  const auto n = static_cast<Index>(decomposition.shorter);
  if (options.solver == SingularSolver::lobpcg) {
    return lobpcg_memory_bytes(options, n, 0, false, scalar_size);
  }
  BlockLanczosOptions lanczos = lanczos_options(options);
  if (decomposition.acceptable()) lanczos.max_applications = decomposition.operations();
  return block_lanczos_memory_bytes(lanczos, n, false, scalar_size);
}

/// The bytes of a search for `c` vectors of the longer side, which follows the eigensolver: the
/// memory of block CG, and the blocks of least squares and of `NullVectors` on both sides.
double completion_memory_bytes(Index c, double shorter, double longer, std::size_t scalar_size) {
  const double blocks = 3 * (shorter + longer) * as_double(c);
  return block_cg_memory_bytes(static_cast<Index>(shorter), c, scalar_size) +
         blocks * static_cast<double>(scalar_size);
}

}  // namespace

Index singular_block_size(const SingularOptions& options, Index m, Index n) {
  const Index shorter = std::min(m, n);
  if (detail::singular_route(options, m, n) != SingularRoute::iterate) return shorter;
  return options.solver == SingularSolver::lobpcg
             ? lobpcg_block_size(options, shorter)
             : block_lanczos_shape(lanczos_options(options), shorter, false).block;
}

double singular_memory_bytes(const SingularOptions& options, Index m, Index n,
                             std::size_t scalar_size) {
  const double shorter = as_double(std::min(m, n));
  const double longer = as_double(std::max(m, n));
  const auto bytes = [&](double long_columns, double short_columns) {
    return (longer * long_columns + shorter * short_columns) * static_cast<double>(scalar_size);
  };
  const detail::DecompositionCost decomposition{longer, shorter, scalar_size > sizeof(double)};
  const SingularRoute route = detail::singular_route(options, m, n);
  const bool iterates = route == SingularRoute::iterate;
  const bool dense = route == SingularRoute::dense;
  const double nev = padded_columns(options.nev, scalar_size);
  const double space = dense ? shorter : nev;  // columns from which triplets are extracted
  // U, the products with that space and their basis, and the operator's A X in addition to an
  // eigensolver.
  const double block =
      iterates ? padded_columns(singular_block_size(options, m, n), scalar_size) : 0;
  const double short_columns = nev + (dense ? shorter : 0);
  constexpr double kSmallMatrices = 16;  // R and its factors, Gram matrices, in double
  double stage = 0;                      // the largest of the stages of a search
  if (iterates) {
    stage = std::max(eigensolver_memory_bytes(options, decomposition, scalar_size),
                     completion_memory_bytes(options.nev, shorter, longer, scalar_size));
  }
  if (route == SingularRoute::decompose || (iterates && decomposition.acceptable())) {
    const double panel = padded_columns(std::min({m, n, detail::kPanelColumns}), scalar_size);
    stage = std::max(stage, bytes(panel, panel));
  }
  return bytes(nev + 2 * space + block, short_columns) +
         static_cast<double>(std::max(sizeof(double), scalar_size)) * kSmallMatrices * space *
             space +
         stage;
}

double least_squares_memory_bytes(Index m, Index n, Index b, std::size_t scalar_size) {
  const double row = padded_columns(b, scalar_size) * static_cast<double>(scalar_size);
  // R and the operator's A X have m rows. S, X and X before a correction have n rows.
  return block_cg_memory_bytes(n, b, scalar_size) + row * (2 * as_double(m) + 3 * as_double(n));
}

}  // namespace heddle
