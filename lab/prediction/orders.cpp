#include "prediction/orders.hpp"

#include <fmt/format.h>

#include <heddle/linalg/base/clock.hpp>
#include <iterator>

namespace heddle::lab {
namespace {

std::vector<OrderedProducts> cases(const std::vector<Index>& widths) {
  std::vector<OrderedProducts> all;
  for (const bool on_gpu : {false, true}) {
    for (const Index N : widths) {
      OrderedProducts products{.N = N, .count = OrderReport::kProducts};
      if (on_gpu) products.gpu = DeviceSpeed{};
      all.push_back(products);
    }
  }
  return all;
}

OrderLine line_of(HostContext& context, const RowPattern& A, RowOrder order,
                  const std::vector<OrderedProducts>& cases, const OrderLine* own) {
  OrderLine line;
  line.order = order;
  line.failure = no_row_order_reason(order, A);
  if (!line.failure.empty()) return line;
  const auto begin = Clock::now();
  const std::vector<std::int32_t> rows = order_rows(context, A, order);
  line.found_seconds = seconds_since(begin);
  line.order_seconds = ordering_seconds(A, order);
  for (const OrderedProducts& products : cases) {
    OrderValue value{products.N, products.gpu.has_value(),
                     predict_ordered(context, A, rows, products)};
    if (own != nullptr) {
      const double before = own->values[line.values.size()].seconds;
      value.kept = order_pays(before, value.seconds, line.order_seconds, products);
      if (before > value.seconds) value.products = line.order_seconds / (before - value.seconds);
    }
    line.values.push_back(value);
  }
  return line;
}

std::string repaid_text(const OrderValue& value, bool own) {
  if (own) return "";
  if (value.products == 0) return "never";
  return value.products < 1e6 ? fmt::format("{:.0f}", value.products) : "> 10^6";
}

}  // namespace

OrderReport inspect_orders(HostContext& context, const RowPattern& A,
                           const std::vector<Index>& widths) {
  const std::vector<OrderedProducts> all = cases(widths);
  OrderReport report;
  report.lines.push_back(line_of(context, A, RowOrder::none, all, nullptr));
  for (const RowOrder order : kRowOrders) {
    if (order == RowOrder::automatic || order == RowOrder::none) continue;
    const OrderLine own = report.lines.front();
    report.lines.push_back(line_of(context, A, order, all, &own));
  }
  const OrderChoice choice = choose_order(context, A, all.front());
  report.chosen = fmt::format("{}: {}", row_order_name(choice.order), choice.reason);
  return report;
}

std::string to_text(const OrderReport& report) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "\nOrders of rows and columns, products in double precision\n"
                 "{:<9}{:>9}  {:<6}{:>4}{:>13}{:>8}{:>13}\n",
                 "order", "found in", "device", "N", "us, product", "faster", "repaid after");
  for (const OrderLine& line : report.lines) {
    const bool own = line.order == RowOrder::none;
    if (!line.failure.empty()) {
      fmt::format_to(out, "{:<9} {}\n", row_order_name(line.order), line.failure);
    }
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      const OrderValue& value = line.values[k];
      const double before = report.lines.front().values[k].seconds;
      fmt::format_to(out, "{:<9}{:>9}  {:<6}{:>4}{:>13.1f}{:>8}{:>13}{}\n",
                     k == 0 ? row_order_name(line.order) : "",
                     k == 0 ? fmt::format("{:.2f} s", line.found_seconds) : "",
                     value.on_gpu ? "GPU" : "host", value.N, 1e6 * value.seconds,
                     own || value.seconds == 0 ? "" : fmt::format("{:.2f}", before / value.seconds),
                     repaid_text(value, own), value.kept ? "  kept" : "");
    }
  }
  fmt::format_to(out,
                 "us: predicted, on the host with one thread, on the GPU for an NVIDIA H200. "
                 "repaid after: products that\nare worth the ordering. kept: by a solve of {:.0f} "
                 "products\nauto, on the host: {}\n",
                 OrderReport::kProducts, report.chosen);
  return fmt::to_string(text);
}

}  // namespace heddle::lab
