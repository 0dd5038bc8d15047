#include "spgemm/report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace heddle::lab {
namespace {

constexpr double kMegabyte = 1e6;
constexpr double kPercent = 100;
constexpr double kGigaPerMilli = 1e-6;

double gflops(const SpgemmComparison& comparison, const SpgemmTiming& timing) {
  return timing.total_ms > 0 ? comparison.flops() / timing.total_ms * kGigaPerMilli : 0;
}

const char* format_name(const SpgemmComparison& comparison) {
  return comparison.format.dia ? "dia" : "csr";
}

std::string milliseconds(double ms) { return ms > 0 ? fmt::format("{:.3f}", ms) : "-"; }

}  // namespace

std::string to_text(const std::vector<ProductReport>& products) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const auto& [formula, comparison] : products) {
    const SpgemmCounts& counts = comparison.counts;
    fmt::format_to(out,
                   "{}\n  {} rows, {} columns, {} entries, {:.3f} MB\n"
                   "  {} multiplications, {:.2f} per entry (compression)\n",
                   formula, counts.rows, counts.cols, counts.nnz,
                   comparison.product_bytes / kMegabyte, counts.multiplications,
                   counts.compression());
    fmt::format_to(out, "  format: {} ({})\n", format_name(comparison), comparison.format.reason);
    if (comparison.convert_ms > 0) {
      fmt::format_to(out, "  {:.3f} ms to convert the factors, once\n", comparison.convert_ms);
    }
    if (!comparison.device.empty()) fmt::format_to(out, "  GPU: {}\n", comparison.device);
    if (comparison.timings.empty()) continue;
    fmt::format_to(out, "  {:<10}{:>12}{:>12}{:>12}{:>10}{:>12}\n", "", "total ms", "inspect ms",
                   "update ms", "GFLOP/s", "memory MB");
    for (const SpgemmTiming& timing : comparison.timings) {
      if (!timing.failure.empty()) {
        fmt::format_to(out, "  {:<10}  {}\n", timing.name, timing.failure);
        continue;
      }
      fmt::format_to(out, "  {:<10}{:>12}{:>12}{:>12}{:>10.2f}{:>12.3f}\n", timing.name,
                     milliseconds(timing.total_ms), milliseconds(timing.inspect_ms),
                     milliseconds(timing.update_ms), gflops(comparison, timing),
                     timing.peak_bytes / kMegabyte);
      if (timing.gpu_share > 0) {
        fmt::format_to(out,
                       "  {:<10}  {:.1f} % of the multiplications on the GPU, idle {:.3f} ms\n", "",
                       kPercent * timing.gpu_share, timing.idle_ms);
      }
    }
  }
  return text;
}

std::string to_json(const std::vector<ProductReport>& products) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [formula, comparison] : products) {
    const SpgemmCounts& counts = comparison.counts;
    nlohmann::ordered_json product = {{"formula", formula},
                                      {"rows", counts.rows},
                                      {"cols", counts.cols},
                                      {"nnz", counts.nnz},
                                      {"multiplications", counts.multiplications},
                                      {"compression", counts.compression()},
                                      {"bytes", comparison.product_bytes},
                                      {"format", format_name(comparison)},
                                      {"format_reason", comparison.format.reason},
                                      {"convert_ms", comparison.convert_ms},
                                      {"device", comparison.device},
                                      {"implementations", nlohmann::ordered_json::array()}};
    for (const SpgemmTiming& timing : comparison.timings) {
      nlohmann::ordered_json entry = {{"name", timing.name}};
      if (!timing.failure.empty()) {
        entry["failure"] = timing.failure;
      } else {
        entry["total_ms"] = timing.total_ms;
        if (timing.inspect_ms > 0) entry["inspect_ms"] = timing.inspect_ms;
        if (timing.update_ms > 0) entry["update_ms"] = timing.update_ms;
        entry["gflops"] = gflops(comparison, timing);
        entry["peak_bytes"] = timing.peak_bytes;
        if (timing.gpu_share > 0) {
          entry["gpu_share"] = timing.gpu_share;
          entry["idle_ms"] = timing.idle_ms;
        }
      }
      product["implementations"].push_back(std::move(entry));
    }
    list.push_back(std::move(product));
  }
  return nlohmann::ordered_json{{"products", std::move(list)}}.dump(2) + "\n";
}

}  // namespace heddle::lab
