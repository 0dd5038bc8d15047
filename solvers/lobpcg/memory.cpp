#include <algorithm>
#include <heddle/solvers/lobpcg/lobpcg.hpp>

namespace heddle {
namespace {

/// Up to this order, a dense solve costs less than iterating, and it always converges.
constexpr Index kDenseOrder = 256;

/// The space must have at least this many blocks of dimensions beside the wanted pairs: S = [X P W]
/// takes three, and the iteration needs directions outside of S and the locked pairs.
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
  const auto b = static_cast<double>(lobpcg_block_size(options, n, constraints));
  const auto nev = static_cast<double>(options.nev);
  const double per_image = b + std::max(2 * b, 16.0);                // S, A S, B S
  const double locked = static_cast<double>(constraints) + nev + b;  // Y, B Y
  const double weights = pencil ? 7 : 1;                             // of `ErrorNorms`
  const double scales = 2;                                           // of the search
  const double columns =
      (pencil ? 3 : 2) * per_image + (pencil ? 2 : 1) * locked + nev + weights + scales;
  const double small =
      12 * per_image * per_image + 6 * nev * nev;  // H, Z and Gram matrices, in double
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) + 8 * small;
}

}  // namespace heddle
