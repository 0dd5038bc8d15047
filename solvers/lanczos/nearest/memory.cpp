#include <algorithm>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/lanczos/nearest/shape.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

constexpr Index kDefaultBlock = 8;

/// The least columns of a default basis beyond the wanted pairs.
constexpr Index kLeastBeyond = 40;

}  // namespace

Index nearest_block_size(const NearestOptions& options, Index n) noexcept {
  return std::min(options.block_size == 0 ? kDefaultBlock : options.block_size, n);
}

detail::NearestShape detail::nearest_shape(const NearestOptions& options, Index n, Index pairs) {
  const Index b = nearest_block_size(options, n);
  Index m = std::max(2 * pairs + 4 * b, pairs + std::max(8 * b, kLeastBeyond));
  if (options.max_basis > 0) m = std::max(options.max_basis, pairs + 2 * b);
  m = std::min((m + b - 1) / b * b, (n - b) / b * b);
  return {n, b, m < pairs + 2 * b ? 0 : m, std::min(n, pairs + b)};
}

double nearest_memory_bytes(const NearestOptions& options, Index n, Index constraints, bool pencil,
                            std::size_t scalar_size) {
  const auto shape = detail::nearest_shape(options, n, options.nev + constraints);
  const bool dense = n <= detail::kDenseOrder || shape.max_basis == 0;
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const Index basis = dense ? n : shape.max_basis;
  const Index pairs = std::min(n, dense ? options.nev + constraints + shape.block : shape.pairs);
  const auto m = static_cast<double>(basis);
  const auto p = static_cast<double>(pairs);
  const double ordered = options.definite == Definite::A ? padded(options.nev) : 0;
  // The basis with its front, the front's copy, U, B X before a solve, two products and the pairs.
  // A dense solve makes its basis in one more block, next to four matrices on the host. Constraints
  // have their images by B and (A − sB)⁻¹B.
  const double columns = (pencil ? 3 : 2) * padded(constraints) + padded(basis + shape.block) +
                         (dense ? padded(basis) : 0) + (pencil ? 7 : 5) * padded(shape.block) +
                         padded(pairs) + ordered + detail::error_norm_columns(pencil, scalar_size);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) +
         8 * ((dense ? 10 : 6) * m * m + 6 * p * p);
}

}  // namespace heddle
