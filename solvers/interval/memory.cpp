#include <algorithm>
#include <heddle/solvers/interval/memory.hpp>

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
  const auto b = static_cast<double>(interval_block_size(options, n));
  const bool dense = n <= detail::kLargestIntervalDenseOrder;
  const auto m = static_cast<double>(dense ? n : detail::max_interval_columns(options, n));
  // Columns of X, a product and the filter's terms (three if A cannot accumulate), and the same
  // blocks for the spectral density.
  const double columns = m + 4 * b + 4 * static_cast<double>(detail::kDensityVectors);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) + 8 * 12 * m * m;
}

}  // namespace heddle
