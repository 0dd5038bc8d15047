#include "prediction/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "spmm/intensity.hpp"

namespace heddle::lab {
namespace {

/// GFLOP/s of a prediction.
double rate_of(const PredictionReport& report, Index N, const KernelPrediction& prediction) {
  return 2e-9 * static_cast<double>(report.features.nnz) * static_cast<double>(N) /
         prediction.seconds;
}

nlohmann::ordered_json widths_json(const PredictionReport& report) {
  nlohmann::ordered_json widths = nlohmann::ordered_json::array();
  for (const WidthPrediction& width : report.widths) {
    nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
    for (const KernelPrediction& prediction : width.kernels) {
      kernels.push_back(
          {{"kernel", prediction.kernel},
           {"seconds", prediction.seconds},
           {"gflops", rate_of(report, width.N, prediction)},
           {"flops_per_byte", flops_per_byte(report.features, width.N, sizeof(double), prediction)},
           {"bound_by", prediction.bound_by()},
           {"memory_bytes", prediction.memory_bytes},
           {"l2_bytes", prediction.l2_bytes}});
    }
    widths.push_back({{"N", width.N}, {"kernels", std::move(kernels)}});
  }
  return widths;
}

nlohmann::ordered_json distribution_json(const BlockCounts& counts) {
  return {{"mean", counts.mean()},
          {"deviation", counts.deviation()},
          {"min", counts.quantile(0)},
          {"median", counts.quantile(.5)},
          {"percentile_95", counts.quantile(.95)},
          {"max", counts.quantile(1)}};
}

nlohmann::ordered_json blocks_json(const BlockReport& report) {
  nlohmann::ordered_json blocks = nlohmann::ordered_json::array();
  for (const BlockLine& line : report.blocks) {
    blocks.push_back({{"shape", {line.counts.shape.height, line.counts.shape.width}},
                      {"order", reordering_name(line.order)},
                      {"blocks", line.counts.blocks()},
                      {"fill", line.counts.fill()},
                      {"per_block_row", distribution_json(line.counts)},
                      {"bytes_per_entry", {{"half", line.half_bytes}, {"tf32", line.tf32_bytes}}},
                      {"seconds", line.seconds},
                      {"predicted_seconds", line.predicted},
                      {"kept", line.kept}});
  }
  nlohmann::ordered_json panels = nlohmann::ordered_json::array();
  for (const PanelLine& line : report.panels) {
    panels.push_back({{"rows", line.columns.shape.height},
                      {"order", reordering_name(line.order)},
                      {"columns", line.columns.blocks()},
                      {"fill", line.columns.fill()},
                      {"per_panel", distribution_json(line.columns)},
                      {"bytes_per_entry", {{"half", line.half_bytes}, {"tf32", line.tf32_bytes}}}});
  }
  return {{"dense", std::move(blocks)}, {"panels", std::move(panels)}};
}

nlohmann::ordered_json orders_json(const OrderReport& report) {
  nlohmann::ordered_json orders = nlohmann::ordered_json::array();
  for (const OrderLine& line : report.lines) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const OrderValue& value : line.values) {
      values.push_back({{"device", value.on_gpu ? "cuda" : "host"},
                        {"N", value.N},
                        {"predicted_seconds", value.seconds},
                        {"repaid_after", value.products},
                        {"kept", value.kept}});
    }
    orders.push_back({{"order", row_order_name(line.order)},
                      {"failure", line.failure},
                      {"seconds", line.found_seconds},
                      {"predicted_order_seconds", line.order_seconds},
                      {"products", std::move(values)}});
  }
  return {{"lines", std::move(orders)}, {"auto", report.chosen}};
}

}  // namespace

PredictionReport predict(HostContext& context, std::string name, CsrView<double, HostSpace> A,
                         const std::vector<Index>& widths) {
  PredictionReport report;
  report.name = std::move(name);
  report.features = matrix_features(context, A);
  for (const Index N : widths) {
    report.widths.push_back({N, predict_kernels(report.features, N, sizeof(double), {})});
  }
  return report;
}

std::string to_text(const PredictionReport& report) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "Predicted GFLOP/s in double precision on an NVIDIA H200\n{:<18}", "N");
  std::vector<std::string_view> kernels;
  for (const WidthPrediction& width : report.widths) {
    fmt::format_to(out, "{:>9}", width.N);
    for (const KernelPrediction& prediction : width.kernels) {
      if (std::find(kernels.begin(), kernels.end(), prediction.kernel) == kernels.end()) {
        kernels.push_back(prediction.kernel);
      }
    }
  }
  for (const std::string_view kernel : kernels) {
    fmt::format_to(out, "\n{:<18}", kernel);
    for (const WidthPrediction& width : report.widths) {
      const auto own =
          std::find_if(width.kernels.begin(), width.kernels.end(),
                       [&](const KernelPrediction& one) { return one.kernel == kernel; });
      fmt::format_to(out, "{:>9}",
                     own == width.kernels.end()
                         ? std::string("-")
                         : fmt::format("{:.0f}", rate_of(report, width.N, *own)));
    }
  }
  fmt::format_to(out, "\n");
  if (report.blocks) text.append(to_text(*report.blocks));
  if (report.orders) text.append(to_text(*report.orders));
  return fmt::to_string(text);
}

std::string to_json(const PredictionReport& report) {
  nlohmann::ordered_json json = {
      {"matrix", report.name},        {"rows", report.features.rows},
      {"nnz", report.features.nnz},   {"precision", "double"},
      {"device", "NVIDIA H200"},      {"memory_bytes_per_second", DeviceSpeed{}.memory_bytes},
      {"widths", widths_json(report)}};
  if (report.blocks) json["blocks"] = blocks_json(*report.blocks);
  if (report.orders) json["orders"] = orders_json(*report.orders);
  return json.dump(2) + "\n";
}

}  // namespace heddle::lab
