#include <algorithm>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

/// A block width for which the SpMM and dense kernels are written.
constexpr Index kDefaultBlock = 8;

/// The least columns of a default basis beyond the wanted pairs.
constexpr Index kLeastBeyond = 40;

Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

BlockLanczosShape block_lanczos_shape(const BlockLanczosOptions& options, Index n, bool pencil) {
  BlockLanczosShape shape{n, options.nev, options.block_size, options.max_basis};
  shape.pencil = pencil;
  if (shape.block == 0) shape.block = kDefaultBlock;
  const Index b = shape.block = std::min(shape.block, n);
  if (shape.max_basis == 0)
    shape.max_basis =
        std::max(2 * options.nev + 4 * b, options.nev + std::max(8 * b, kLeastBeyond));
  shape.max_basis = std::min(round_up(shape.max_basis, b), (n - b) / b * b);
  if (n <= detail::kDenseOrder || shape.max_basis < options.nev + 2 * b) shape.max_basis = 0;
  return shape;
}

double block_lanczos_memory_bytes(const BlockLanczosOptions& options, Index n, bool pencil,
                                  std::size_t scalar_size) {
  const BlockLanczosShape shape = block_lanczos_shape(options, n, pencil);
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const auto m = static_cast<double>(shape.max_basis);
  const auto pairs = static_cast<double>(shape.pairs());
  const double columns =
      padded(shape.max_basis + shape.block)  // [V V₊]
                                             // the copy of V₊, U, A X, the filter's terms (three if
                                             // C cannot accumulate) and B U
      + (pencil ? 7 : 6) * padded(shape.block) + padded(shape.pairs())  // the result
      + detail::error_norm_columns(pencil, scalar_size);
  const double small = 6 * m * m + 6 * pairs * pairs;  // T, Z, Gram matrices, in double
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) + 8 * small;
}

}  // namespace heddle
