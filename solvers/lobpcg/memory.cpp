#include <algorithm>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/lobpcg/blocks.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/lobpcg/scaled_constraints.hpp>
#include <heddle/solvers/lobpcg/span_ritz.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

/// Up to this order, a dense solve costs less than iterating, and it always converges.
constexpr Index kDenseOrder = 256;

/// The space must have at least this many blocks of dimensions in addition to the wanted pairs: S =
/// [X P W] takes three, and the iteration needs directions outside of S and the locked pairs.
constexpr Index kBlocksOfRoom = 5;

/// A block wider than this costs more than finding the pairs in several groups and locking them.
constexpr Index kWidestDefault = 48;

/// The default block is a multiple of this width, for which the SpMM and dense kernels are written.
constexpr Index kWidthUnit = 4;

}  // namespace

Index lobpcg_block_size(const EigenOptions& options, Index n, Index constraints) {
  const Index space = n - constraints;
  const Index nev = std::min(options.nev, space);
  Index block = std::min(options.block_size, space);  // so that the products below do not overflow
  if (block == 0) {
    const Index with_guards = nev + std::max<Index>(2, nev / 8);
    const Index rounded = (with_guards + kWidthUnit - 1) / kWidthUnit * kWidthUnit;
    block = std::min(rounded, kWidestDefault);
  }
  const bool fits = space > kDenseOrder && space >= nev + kBlocksOfRoom * block;
  return fits ? block : space;
}

double lobpcg_memory_bytes(const EigenOptions& options, Index n, Index constraints, bool pencil,
                           std::size_t scalar_size) {
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const Index block = lobpcg_block_size(options, n, constraints);
  constexpr Index kSearched = detail::LobpcgBlocks<double, HostContext>::kSearchColumns;
  const Index space = detail::LobpcgBlocks<double, HostContext>::columns(block);
  const Index locked = constraints + options.nev + block;
  const double columns = (pencil ? 3 : 2) * padded(space)     // S, A S, B S
                         + (pencil ? 2 : 1) * padded(locked)  // Y, B Y
                         + padded(options.nev)                // the result
                         + 2 * padded(constraints)            // while they are made orthonormal
                         + 3 * padded(2) + padded(4)          // of the search
                         + detail::error_norm_columns(pencil, scalar_size);
  const auto order = static_cast<double>(space);
  const auto pairs = static_cast<double>(std::max(options.nev, block));
  const auto width = static_cast<double>(std::max({block, constraints, kSearched}));
  const auto basis = static_cast<double>(locked + space);
  const auto given = static_cast<double>(constraints);
  const double small = 11 * order * order                 // H, Z, N, C, SᵀAS and SᵀBS
                       + 6 * pairs * pairs                // of the verification
                       + 3 * width * (basis + 2 * width)  // of the orthogonalisation
                       + given * (order + 2 * given)      // multipliers, and R of the constraints
                       + detail::ScaledConstraints<double, HostContext>::size(
                             given, detail::LobpcgBlocks<double, HostContext>::kSearchWidth) +
                       detail::SpanRitz<double, HostContext>::size(kSearched);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) +
         sizeof(double) * small;
}

}  // namespace heddle
