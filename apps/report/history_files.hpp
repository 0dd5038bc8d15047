#pragma once

#include <cstdio>
#include <filesystem>
#include <heddle/apps/config/config.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

inline constexpr std::string_view kHistoryFile = "history.csv";
inline constexpr std::string_view kPairsFile = "pairs.csv";

/// The text of `history.csv`: a line of column names, then one line per iteration.
std::string history_csv(const std::vector<IterationRecord>& history);

/// `history.csv` and `pairs.csv` while a solve runs. Each iteration appends its lines, which are on
/// the disk's side of the process when `add` returns, so that other programs can follow the run.
class HistoryFiles {
 public:
  /// Creates the files that `detail` asks for in `directory`. Throws `InputError`.
  HistoryFiles(const std::filesystem::path& directory, HistoryDetail detail);

  /// Appends an iteration. After a failure, such as a full disk, a file is no longer written.
  /// Returns false at the first failure.
  bool add(const MonitorState& state);

  /// Appends the result of a solve that had no iterations, such as a dense one, to `pairs.csv`.
  void add_result(Index iteration, const std::vector<double>& values,
                  const std::vector<double>& residuals);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  static File create(const std::filesystem::path& path, std::string_view head);
  static bool append(File& file, const std::string& text);

  File history_;
  File pairs_;
  bool has_pairs_ = false;
};

}  // namespace heddle::apps
