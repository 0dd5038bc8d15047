#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/report/levels.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

namespace heddle::apps {
namespace {

std::string row(std::string_view name, Index rows, Index nnz, std::string_view mean,
                std::string_view aggregates, double seconds) {
  return fmt::format("{:<7}{:>12}{:>14}{:>10}{:>12}{:>11.4f}\n", name, rows, nnz, mean, aggregates,
                     seconds);
}

}  // namespace

std::string levels_table(std::span<const OperatorLevel> levels) {
  OperatorLevel all;
  std::string text = fmt::format("{:<7}{:>12}{:>14}{:>10}{:>12}{:>11}\n", "level", "rows",
                                 "entries", "per row", "aggregates", "seconds");
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const OperatorLevel& level = levels[l];
    const double mean =
        static_cast<double>(level.nnz) / static_cast<double>(std::max<Index>(level.rows, 1));
    text += row(std::to_string(l), level.rows, level.nnz, fmt::format("{:.1f}", mean),
                level.aggregates > 0 ? std::to_string(level.aggregates) : "", level.seconds);
    all.rows += level.rows;
    all.nnz += level.nnz;
    all.seconds += level.seconds;
  }
  text += row("all", all.rows, all.nnz, "", "", all.seconds);
  return text + fmt::format("operator complexity {:.3f}\n", operator_complexity(levels));
}

nlohmann::ordered_json levels_json(std::span<const OperatorLevel> levels) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const OperatorLevel& level : levels) {
    list.push_back({{"rows", level.rows},
                    {"nnz", level.nnz},
                    {"aggregates", level.aggregates},
                    {"seconds", level.seconds}});
  }
  return {{"levels", std::move(list)}, {"operator_complexity", operator_complexity(levels)}};
}

}  // namespace heddle::apps
