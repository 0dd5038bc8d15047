#include <algorithm>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

constexpr Index kDefaultBlock = 16;

}  // namespace

Index detail::max_interval_columns(const IntervalOptions& options, Index n) noexcept {
  if (n <= kIntervalDenseOrder) return n;
  return std::min(n, 4 * options.nev + 4 * interval_block_size(options, n));
}

Index interval_block_size(const IntervalOptions& options, Index n) noexcept {
  return std::min(options.block_size == 0 ? kDefaultBlock : options.block_size, n);
}

double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size) {
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const bool dense = n <= detail::kLargestIntervalDenseOrder;
  const Index most = dense ? n : detail::max_interval_columns(options, n);
  const auto m = static_cast<double>(most);
  // Columns of X, a product and the filter's terms (three if A cannot accumulate), and the same
  // blocks for the spectral density.
  const double columns = padded(most) + 4 * padded(interval_block_size(options, n)) +
                         4 * padded(detail::kDensityVectors) +
                         detail::error_norm_columns(false, scalar_size);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) + 8 * 12 * m * m;
}

}  // namespace heddle
