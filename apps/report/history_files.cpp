#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/linalg/base/error.hpp>
#include <iterator>
#include <span>
#include <system_error>

namespace heddle::apps {
namespace {

constexpr std::string_view kHistoryHead =
    "iteration,converged,worst_residual,seconds,active_columns,operator_applications\n";
constexpr std::string_view kPairsHead = "iteration,pair,value,residual\n";

void append_record(const IterationRecord& record, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", record.iteration,
                 record.converged, record.worst_residual, record.seconds, record.active_columns,
                 record.operator_applications);
}

/// One line per pair. The value of a column of a linear system is empty.
std::string pair_lines(Index iteration, std::span<const double> values,
                       std::span<const double> residuals) {
  std::string text;
  for (std::size_t j = 0; j < residuals.size(); ++j) {
    const std::string value = j < values.size() ? fmt::format("{}", values[j]) : std::string();
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", iteration, j + 1, value,
                   residuals[j]);
  }
  return text;
}

}  // namespace

std::string history_csv(const std::vector<IterationRecord>& history) {
  std::string text(kHistoryHead);
  for (const IterationRecord& record : history) append_record(record, text);
  return text;
}

HistoryFiles::HistoryFiles(const std::filesystem::path& directory, HistoryDetail detail) {
  if (detail == HistoryDetail::none) return;
  history_ = create(directory / kHistoryFile, kHistoryHead);
  if (detail == HistoryDetail::pairs) pairs_ = create(directory / kPairsFile, kPairsHead);
}

HistoryFiles::File HistoryFiles::create(const std::filesystem::path& path, std::string_view head) {
  File file(std::fopen(path.c_str(), "w"));
  const bool written = file &&
                       std::fwrite(head.data(), 1, head.size(), file.get()) == head.size() &&
                       std::fflush(file.get()) == 0;
  if (written) return file;
  throw InputError(path.string(), 0,
                   "cannot be written: " + std::generic_category().message(errno));
}

/// False if the file was open and cannot be written any more.
bool HistoryFiles::append(File& file, const std::string& text) {
  if (!file) return true;
  if (std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
      std::fflush(file.get()) == 0) {
    return true;
  }
  file.reset();
  return false;
}

bool HistoryFiles::add(const MonitorState& state) {
  std::string line;
  append_record(state.record, line);
  const bool history = append(history_, line);
  if (!pairs_) return history;
  has_pairs_ = true;
  return append(pairs_, pair_lines(state.record.iteration, state.eigenvalues, state.residuals)) &&
         history;
}

void HistoryFiles::add_result(Index iteration, const std::vector<double>& values,
                              const std::vector<double>& residuals) {
  if (!has_pairs_) append(pairs_, pair_lines(iteration, values, residuals));
}

}  // namespace heddle::apps
