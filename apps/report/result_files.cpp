#include <filesystem>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/apps/report/result_files.hpp>
#include <heddle/drivers/solve/team_calls.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <variant>

namespace heddle::apps {
namespace {

constexpr std::string_view kResult = "result.json";

/// The names of the files that a solver writes its vectors to.
struct VectorFiles {
  std::string_view mtx;
  std::string_view npy;
};
constexpr VectorFiles kEigenvectors = {"eigenvectors.mtx", "eigenvectors.npy"};
constexpr VectorFiles kLeftVectors = {"left_vectors.mtx", "left_vectors.npy"};
constexpr VectorFiles kRightVectors = {"right_vectors.mtx", "right_vectors.npy"};
constexpr VectorFiles kSolution = {"solution.mtx", "solution.npy"};

void write_vectors(OutputFiles& files, Device& device, const Solution& solution,
                   const Config& config) {
  const VectorFormat format = config.output.vectors;
  if (format == VectorFormat::none) return;
  const bool npy = format == VectorFormat::npy;
  const auto write = [&](const VectorFiles& names, detail::VectorSide side) {
    const auto vectors = detail::vectors_of(device, solution, side, solution.count());
    files.add(npy ? names.npy : names.mtx, [&](const std::filesystem::path& path) {
      std::visit([&](const auto& X) { npy ? write_npy(path, X) : write_matrix_market(path, X); },
                 vectors);
    });
  };
  if (finds_triplets(config)) {
    write(kLeftVectors, detail::VectorSide::left);
    write(kRightVectors, detail::VectorSide::right);
  } else {
    write(is_eigensolver(config.request.method) ? kEigenvectors : kSolution,
          detail::VectorSide::right);
  }
}

}  // namespace

const std::vector<std::string_view>& result_file_names() {
  static const std::vector<std::string_view> names = {
      kEigenvectors.npy, kEigenvectors.mtx, kLeftVectors.npy, kLeftVectors.mtx,
      kRightVectors.npy, kRightVectors.mtx, kSolution.npy,    kSolution.mtx,
      kPairsFile,        kHistoryFile,      kResult};
  return names;
}

void write_results(OutputFiles& files, Device& device, const Config& config, const Report& report,
                   const std::string& json) {
  write_vectors(files, device, report.result, config);
  if (config.output.history != HistoryDetail::none) {
    files.add(kHistoryFile, [&](const std::filesystem::path& path) {
      write_text(path, history_csv(report.result.history));
    });
  }
  files.add(kResult, [&](const std::filesystem::path& path) { write_text(path, json); });
  files.commit();
  files.forget_previous(result_file_names());
}

void write_failure(OutputFiles& files, const Config& config, const Report& report,
                   const Failure& failure) {
  files.start(result_file_names());
  files.discard_added();
  files.add(kResult, [&](const std::filesystem::path& path) {
    write_text(path, failure_json(config, report, failure));
  });
  files.commit();
}

}  // namespace heddle::apps
