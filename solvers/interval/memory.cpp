#include <algorithm>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

/// A width for which the SpMM kernels are written. Wider blocks need more columns to converge.
constexpr Index kDefaultBlock = 8;

}  // namespace

Index detail::max_interval_basis(const IntervalOptions& options, Index n) noexcept {
  const Index b = interval_block_size(options, n);
  const Index most = std::min(4 * options.nev + 32 * b, n - b) / b * b;
  return n <= kDenseOrder || most < options.nev + 8 * b ? 0 : most;
}

Index detail::max_interval_pairs(const IntervalOptions& options, Index n, Index m) noexcept {
  return std::min(m, 2 * options.nev + 16 * interval_block_size(options, n));
}

Index interval_block_size(const IntervalOptions& options, Index n) noexcept {
  return std::min(options.block_size == 0 ? kDefaultBlock : options.block_size, n);
}

double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size) {
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const Index b = interval_block_size(options, n);
  const Index basis = detail::max_interval_basis(options, n);
  const bool dense = 2 * basis > n || basis == 0;
  const Index pairs = dense ? n : detail::max_interval_pairs(options, n, basis);
  const auto m = static_cast<double>(basis);
  const auto p = static_cast<double>(pairs);
  // The basis with its front, the front's copy, its product with F, the filter's terms (three if A
  // cannot accumulate), a product with A, pairs, and blocks for the spectral density.
  const double columns = padded(basis + b) + 6 * padded(b) + padded(pairs) +
                         4 * padded(detail::kDensityVectors) +
                         detail::error_norm_columns(false, scalar_size);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) +
         8 * (2 * m * m + m * p + 4 * p * p);
}

}  // namespace heddle
