#include <filesystem>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/apps/report/result_files.hpp>
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

void write_block(OutputFiles& files, const VectorFiles& names, const HostVectors& vectors,
                 Index count, VectorFormat format) {
  const bool npy = format == VectorFormat::npy;
  files.add(npy ? names.npy : names.mtx, [&](const std::filesystem::path& path) {
    std::visit(
        [&](const auto& X) {
          const auto wanted = X.columns(0, count);
          if (npy) {
            write_npy(path, wanted);
          } else {
            write_matrix_market(path, wanted);
          }
        },
        vectors);
  });
}

void write_vectors(OutputFiles& files, const Solution& solution, const Config& config) {
  const Index count = solution.count();
  const VectorFormat format = config.output.vectors;
  if (format == VectorFormat::none) return;
  if (finds_triplets(config)) {
    write_block(files, kLeftVectors, solution.left_vectors, count, format);
    write_block(files, kRightVectors, solution.vectors, count, format);
  } else {
    const VectorFiles& names = is_eigensolver(config.request.method) ? kEigenvectors : kSolution;
    write_block(files, names, solution.vectors, count, format);
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

void write_results(OutputFiles& files, const Config& config, const Report& report,
                   const std::string& json) {
  write_vectors(files, report.result, config);
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
