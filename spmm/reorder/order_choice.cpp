#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/model/host_time.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/reorder/order_features.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <string_view>
#include <utility>

namespace heddle {
namespace {

/// Products must become faster by this factor at least. Smaller gains are within the error of the
/// model.
constexpr double kLeastGain = 1.15;

/// A block of this share of a core's second-level cache stays there while A passes through it.
constexpr double kCachedShare = 0.5;

/// The power of the size of A, in second-level caches, with which the time per row and entry of
/// ordering and permuting grows. Fitted to laplace3d 16³ to 100³ and stencil27 16³ to 64³, rows at
/// random.
constexpr double kMissGrowth = 0.4;

/// Whether the block that products read stays in the cache of a core while A passes through it.
bool stays_in_cache(const RowPattern& A, const OrderedProducts& products) {
  const auto bytes =
      static_cast<double>(A.cols * products.N) * static_cast<double>(products.scalar_bytes);
  return !products.gpu && bytes <= kCachedShare * host_caches().l2;
}

/// A solve in another order takes up to 2 ms longer where products gain nothing, by small matrices.
constexpr double kLeastSaved = 3e-3;

/// About the time of a look at samples of A, where all its rows are among them.
double looking_seconds(const RowPattern& A) {
  return 10e-9 * static_cast<double>(A.nnz) + 100e-9 * static_cast<double>(A.rows);
}

double seconds_of(const HostFeatures& A, const OrderedProducts& products) {
  if (!products.gpu) {
    return host_product_seconds(A, products.N, products.scalar_bytes, host_caches());
  }
  const auto kernels = predict_kernels(A, products.N, products.scalar_bytes, *products.gpu);
  return kernels.empty() ? 0 : kernels.front().seconds;
}

/// A(order, order), or A(order, :) of an A that is not square, without values.
struct OrderedPattern {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
};

OrderedPattern ordered(HostContext& context, const RowPattern& A,
                       const std::vector<std::int32_t>& order) {
  OrderedPattern result;
  result.offsets = {0};
  for (const std::int32_t row : order)
    result.offsets.push_back(result.offsets.back() + A.length(row));
  result.columns.resize(static_cast<std::size_t>(A.nnz));
  const std::vector<std::int32_t> place =
      A.rows == A.cols ? inverse_order(order) : std::vector<std::int32_t>();
  parallel_for(context.threads(), A.rows, [&](Index k) {
    const Index row = order[static_cast<std::size_t>(k)];
    std::int32_t* const columns =
        result.columns.data() + result.offsets[static_cast<std::size_t>(k)];
    std::copy(A.columns + A.row_offsets[row], A.columns + A.row_offsets[row + 1], columns);
    if (place.empty()) return;
    for (Index e = 0; e < A.length(row); ++e)
      columns[e] = place[static_cast<std::size_t>(columns[e])];
    std::sort(columns, columns + A.length(row));
  });
  return result;
}

HostFeatures features_of(HostContext& context, const RowPattern& A, const std::int64_t* offsets,
                         const std::int32_t* columns) {
  return {matrix_features(
      context, CsrView<double, HostSpace>{A.rows, A.cols, A.nnz, offsets, columns, nullptr})};
}

std::string product_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", 1e6 * seconds)
                        : fmt::format("{:.3g} ms", 1e3 * seconds);
}

}  // namespace

double predict_ordered(HostContext& context, const RowPattern& A,
                       const std::vector<std::int32_t>& order, const OrderedProducts& products) {
  if (!products.gpu) return seconds_of(detail::sampled_features(A, order), products);
  if (order.empty()) {
    return seconds_of(features_of(context, A, A.row_offsets, A.columns), products);
  }
  const OrderedPattern pattern = ordered(context, A, order);
  return seconds_of(features_of(context, A, pattern.offsets.data(), pattern.columns.data()),
                    products);
}

double ordering_seconds(const RowPattern& A, RowOrder order) noexcept {
  const auto rows = static_cast<double>(A.rows);
  const auto nnz = static_cast<double>(A.nnz);
  const double bytes = nnz * (sizeof(double) + sizeof(std::int32_t));
  const double misses = std::max(1.0, std::pow(bytes / host_caches().l2, kMissGrowth));
  const double permuting = misses * (15e-9 * nnz + 20e-9 * rows);
  switch (order) {
    case RowOrder::automatic:
    case RowOrder::none:
      return 0;
    case RowOrder::rcm:
      return permuting + misses * (6e-9 * nnz + 130e-9 * rows);
    case RowOrder::metis:
      return permuting + 150e-9 * nnz + 1500e-9 * rows;
    case RowOrder::radix:
      return permuting + 15e-9 * nnz + 20e-9 * rows * std::log2(rows + 1);
    case RowOrder::jaccard:
      return permuting + 100e-9 * nnz + 4e-6 * rows;
  }
  return permuting;
}

bool order_pays(double before, double after, double order_seconds,
                const OrderedProducts& products) noexcept {
  return before > kLeastGain * after && products.count * (before - after) > order_seconds;
}

std::string no_order_helps(const RowPattern& A, const OrderedProducts& products) {
  if (!stays_in_cache(A, products)) return {};
  const auto seconds = [&](double across) {
    return products.count * rows_across_seconds(A.rows, across, products.N, products.scalar_bytes);
  };
  const double cost = ordering_seconds(A, RowOrder::rcm) + looking_seconds(A) + kLeastSaved;
  const double now = A.rows == A.cols ? seconds(detail::own_rows_across(A)) : 0;
  if (now > cost && now - seconds(detail::possible_rows_across(A)) > cost) return {};
  return "the matrix's own: the block that products read fits into the cache of a core, and no "
         "order saves enough of its rows from another core";
}

OrderChoice choose_order(HostContext& context, const RowPattern& A,
                         const OrderedProducts& products) {
  if (A.rows != A.cols) return {.reason = "the matrix is not square"};
  if (std::string reason = no_order_helps(A, products); !reason.empty()) {
    return {.reason = std::move(reason)};
  }
  const double cost = ordering_seconds(A, RowOrder::rcm);
  const HostFeatures samples = detail::sampled_features(A, {});
  const double before = seconds_of(samples, products);
  if (!stays_in_cache(A, products)) {
    const auto unpaid = [&](double possible, std::string_view order) {
      return fmt::format(
          "the matrix's own: samples of rows predict {} per product, {} in {} order, which {:.0f} "
          "products do not repay",
          product_text(before), product_text(possible), order, products.count);
    };
    HostFeatures best = detail::ideal_features(A);
    best.rows_across = std::min(samples.rows_across, detail::possible_rows_across(A));
    const double ideal = seconds_of(best, products);
    if (!order_pays(before, ideal, cost, products)) return {.reason = unpaid(ideal, "the best")};
    const double possible = seconds_of(detail::possible_features(A), products);
    if (!order_pays(before, possible, cost, products))
      return {.reason = unpaid(possible, "a good")};
  }
  std::vector<std::int32_t> rows = order_rows(context, A, RowOrder::rcm, products.unknowns);
  const double own = products.gpu ? predict_ordered(context, A, {}, products) : before;
  const double rcm = predict_ordered(context, A, rows, products);
  const std::string compared = fmt::format("{} predicted per product, in the matrix's own order {}",
                                           product_text(rcm), product_text(own));
  if (!order_pays(own, rcm, cost, products)) {
    return {.reason = fmt::format("the matrix's own: rcm has {}", compared)};
  }
  return {RowOrder::rcm, std::move(rows),
          fmt::format("{}; the ordering costs about as much as {:.0f} products", compared,
                      std::ceil(cost / own))};
}

}  // namespace heddle
