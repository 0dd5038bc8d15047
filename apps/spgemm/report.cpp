#include <fmt/format.h>

#include <heddle/apps/spgemm/report.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

namespace heddle::apps {
namespace {

const char* name_of(const FormatChoice& format) { return format.dia ? "dia" : "csr"; }

}  // namespace

std::string to_text(const std::vector<ProductReport>& products) {
  std::string text;
  for (const ProductReport& product : products) {
    const SpgemmCounts& counts = product.counts;
    fmt::format_to(std::back_inserter(text),
                   "{}\n  {} rows, {} columns, {} entries\n"
                   "  {} multiplications, {:.2f} per entry (compression)\n"
                   "  format: {} ({})\n"
                   "  {:.3f} ms on {}\n",
                   product.formula, counts.rows, counts.cols, counts.nnz, counts.multiplications,
                   counts.compression(), name_of(product.format), product.format.reason,
                   1e3 * product.seconds, product.device);
  }
  return text;
}

std::string to_json(const std::vector<ProductReport>& products) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProductReport& product : products) {
    const SpgemmCounts& counts = product.counts;
    list.push_back({{"formula", product.formula},
                    {"rows", counts.rows},
                    {"cols", counts.cols},
                    {"nnz", counts.nnz},
                    {"multiplications", counts.multiplications},
                    {"compression", counts.compression()},
                    {"format", name_of(product.format)},
                    {"format_reason", product.format.reason},
                    {"device", product.device},
                    {"seconds", product.seconds}});
  }
  return nlohmann::ordered_json{{"products", std::move(list)}}.dump(2) + "\n";
}

}  // namespace heddle::apps
