#include "orders/reordering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/input_file.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <heddle/spmm/spmm.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <utility>

namespace heddle::lab {
namespace {

using Order = std::vector<std::int32_t>;

Order shuffled_rows(Index rows) {
  Order order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine(7);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

/// A(order, order), or A(order, :) of an A that is not square.
HostCsrMatrix<double> ordered(HostContext& context, const CsrView<double, HostSpace>& A,
                              const Order& order) {
  if (A.rows == A.cols) return reordered(context, A, order);
  HostCsrMatrix<double> B(context, A.rows, A.cols, A.nnz);
  B.row_offsets()[0] = 0;
  for (Index k = 0; k < A.rows; ++k) {
    const Index i = order[static_cast<std::size_t>(k)];
    const Index begin = A.row_offsets[i], end = A.row_offsets[i + 1], next = B.row_offsets()[k];
    std::copy(A.columns + begin, A.columns + end, B.columns() + next);
    std::copy(A.values + begin, A.values + end, B.values() + next);
    B.row_offsets()[k + 1] = next + end - begin;
  }
  return B;
}

/// The median time of a product on the device, when products are repeated.
template <class Ctx>
double seconds_of(Ctx& context, const CsrView<double, typename Ctx::Space>& A, Index N) {
  using Space = typename Ctx::Space;
  const SpmmPlan<double, Ctx> plan(context, A);
  MultiVector<double, Space> B(context, A.cols, N);
  MultiVector<double, Space> C(context, A.rows, N);
  fill_random(context, 1, 0, B.view());
  const auto run = [&](int count) {
    const auto begin = Clock::now();
    for (int k = 0; k < count; ++k) {
      plan.multiply(context, 1.0, std::as_const(B).view(), 0.0, C.view());
    }
    context.synchronize();
    return seconds_since(begin) / count;
  };
  run(1);
  constexpr double kBatchSeconds = 0.02;
  const int count = static_cast<int>(std::clamp(kBatchSeconds / run(1), 1.0, 100.0));
  std::vector<double> times(7);
  for (double& time : times) time = run(count);
  return median(std::move(times));
}

double product_seconds(HostContext& context, const CsrView<double, HostSpace>& A, Index N) {
  return seconds_of(context, A, N);
}
#ifdef HEDDLE_HAS_CUDA
double product_seconds(CudaContext& context, const CsrView<double, HostSpace>& A, Index N) {
  const CsrMatrix<double, DeviceSpace> copy = place(context, A);
  return seconds_of(context, copy.view(), N);
}
#endif

std::optional<DeviceSpeed> speed_of(const HostContext&) { return std::nullopt; }
#ifdef HEDDLE_HAS_CUDA
std::optional<DeviceSpeed> speed_of(const CudaContext& context) { return device_speed(context); }
#endif
std::string name_of(const HostContext&) { return "the host"; }
#ifdef HEDDLE_HAS_CUDA
std::string name_of(const CudaContext& context) { return context.device().name; }
#endif

/// The orders to time. Those that A lacks are left out, unless they were asked for by name.
std::vector<RowOrder> orders_of(const RowPattern& A, const ReorderingOptions& options,
                                std::vector<OrderLeftOut>& left_out) {
  std::vector<RowOrder> orders = options.orders;
  if (!options.all) return orders;
  for (const RowOrder order : kRowOrders) {
    if (order == RowOrder::automatic || order == RowOrder::none) continue;
    if (std::find(orders.begin(), orders.end(), order) != orders.end()) continue;
    std::string reason = no_row_order_reason(order, A);
    if (reason.empty()) {
      orders.push_back(order);
    } else {
      left_out.push_back({order, std::move(reason)});
    }
  }
  return orders;
}

/// Times products with A in another order of its rows. `own`: those in A's own order.
template <class Ctx>
ReorderingLine time_order(Ctx& context, HostContext& host, const CsrView<double, HostSpace>& A,
                          RowOrder order, const OrderedProducts& products,
                          const ReorderingLine& own) {
  const RowPattern pattern = pattern_of(A);
  ReorderingLine line;
  line.order = order;
  const auto begin = Clock::now();
  const Order rows = order_rows(host, pattern, order);
  line.found_seconds = seconds_since(begin);
  const auto found = Clock::now();
  const HostCsrMatrix<double> B = ordered(host, A, rows);
  line.permuted_seconds = seconds_since(found);
  line.predicted_seconds = predict_ordered(host, pattern, rows, products);
  line.seconds = product_seconds(context, B.view(), products.N);
  line.kept = order_pays(own.predicted_seconds, line.predicted_seconds,
                         ordering_seconds(pattern, order), products);
  line.pays =
      (own.seconds - line.seconds) * products.count > line.found_seconds + line.permuted_seconds;
  return line;
}

template <class Ctx>
ReorderingReport report_in(Ctx& context, HostContext& host, const ReorderingOptions& options) {
  HostCsrMatrix<double> A =
      apps::read_input(options.matrix, "A", [&](const std::filesystem::path& path) {
        return detail::load_matrix(host, path.string(), options.first_line);
      });
  ReorderingReport report;
  report.device = name_of(context);
  report.rows = A.rows();
  report.cols = A.cols();
  report.nnz = A.nnz();
  report.columns = options.columns;
  report.products = options.products;
  if (options.shuffled) {
    report.unshuffled_seconds = product_seconds(context, std::as_const(A).view(), options.columns);
    A = ordered(host, std::as_const(A).view(), shuffled_rows(A.rows()));
  }
  const CsrView<double, HostSpace> view = std::as_const(A).view();
  const RowPattern pattern = pattern_of(view);
  const OrderedProducts products{
      .N = options.columns, .count = options.products, .gpu = speed_of(context)};
  ReorderingLine own;
  own.predicted_seconds = predict_ordered(host, pattern, {}, products);
  own.seconds = product_seconds(context, view, options.columns);
  report.lines.push_back(own);
  for (const RowOrder order : orders_of(pattern, options, report.left_out)) {
    report.lines.push_back(time_order(context, host, view, order, products, own));
  }
  return report;
}

}  // namespace

ReorderingReport time_orders(const ReorderingOptions& options) {
  HostContext host(options.threads);
  if (!options.on_gpu) return report_in(host, host, options);
#ifdef HEDDLE_HAS_CUDA
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    throw DeviceError("--device cuda: " + reason);
  }
  CudaContext context;
  return report_in(context, host, options);
#else
  throw DeviceError("--device cuda: this build has no CUDA");
#endif
}

std::string to_text(const ReorderingReport& report) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} x {}, {} nonzeros, {} columns in double precision on {}\n", report.rows,
                 report.cols, report.nnz, report.columns, report.device);
  if (report.unshuffled_seconds > 0) {
    fmt::format_to(out, "before it was shuffled: {:.1f} us\n", 1e6 * report.unshuffled_seconds);
  }
  fmt::format_to(out, "{:<9}{:>10}{:>12}{:>15}{:>14}{:>8}{:>6}{:>6}\n", "order", "found in",
                 "permuted in", "us, predicted", "us, measured", "faster", "kept", "pays");
  for (const ReorderingLine& line : report.lines) {
    const bool own = line.order == RowOrder::none;
    fmt::format_to(out, "{:<9}{:>8.3f} s{:>10.3f} s{:>15.1f}{:>14.1f}{:>8.2f}{:>6}{:>6}\n",
                   row_order_name(line.order), line.found_seconds, line.permuted_seconds,
                   1e6 * line.predicted_seconds, 1e6 * line.seconds,
                   report.lines.front().seconds / line.seconds,
                   own         ? ""
                   : line.kept ? "yes"
                               : "no",
                   own         ? ""
                   : line.pays ? "yes"
                               : "no");
  }
  for (const OrderLeftOut& left_out : report.left_out) {
    fmt::format_to(out, "without {}: {}\n", row_order_name(left_out.order), left_out.reason);
  }
  fmt::format_to(out, "kept: by the model, pays: by what was measured, within {:.0f} products\n",
                 report.products);
  return fmt::to_string(text);
}

std::string to_json(const ReorderingReport& report) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const ReorderingLine& line : report.lines) {
    lines.push_back({{"order", row_order_name(line.order)},
                     {"found_seconds", line.found_seconds},
                     {"permuted_seconds", line.permuted_seconds},
                     {"predicted_seconds", line.predicted_seconds},
                     {"seconds", line.seconds},
                     {"kept", line.kept},
                     {"pays", line.pays}});
  }
  nlohmann::ordered_json json{{"device", report.device},   {"rows", report.rows},
                              {"cols", report.cols},       {"nnz", report.nnz},
                              {"columns", report.columns}, {"products", report.products},
                              {"orders", std::move(lines)}};
  for (const OrderLeftOut& left_out : report.left_out) {
    json["left_out"][std::string(row_order_name(left_out.order))] = left_out.reason;
  }
  if (report.unshuffled_seconds > 0) json["unshuffled_seconds"] = report.unshuffled_seconds;
  return json.dump(2) + "\n";
}

}  // namespace heddle::lab
