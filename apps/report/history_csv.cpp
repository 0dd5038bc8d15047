#include <fmt/format.h>

#include <heddle/apps/report/report.hpp>
#include <iterator>

namespace heddle::apps {

std::string history_csv(const std::vector<IterationRecord>& history) {
  std::string text =
      "iteration,converged,worst_residual,seconds,active_columns,operator_applications\n";
  for (const IterationRecord& record : history) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", record.iteration,
                   record.converged, record.worst_residual, record.seconds, record.active_columns,
                   record.operator_applications);
  }
  return text;
}

}  // namespace heddle::apps
