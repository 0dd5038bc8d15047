#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <zlib.h>

#include <algorithm>
#include <heddle/apps/checkpoint.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <string_view>
#include <system_error>
#include <vector>

namespace heddle::apps {
namespace {

uLong add(uLong sum, const void* data, Index count, std::size_t size) {
  return crc32_z(sum, static_cast<const Bytef*>(data), static_cast<std::size_t>(count) * size);
}

std::string fact(std::string_view name, Index rows, Index cols, uLong sum) {
  return fmt::format("{}: {} x {} with the check sum {:08x}", name, rows, cols, sum);
}

template <Scalar T>
std::string fact(std::string_view name, const HostMatrix<T>& A) {
  const CsrView<T, HostSpace> view = A.distributed_view().own;
  uLong sum = add(0, view.row_offsets, view.rows + 1, sizeof(std::int64_t));
  sum = add(sum, view.columns, view.nnz, sizeof(std::int32_t));
  return fact(name, view.rows, view.cols, add(sum, view.values, view.nnz, sizeof(T)));
}

template <Scalar T>
std::string fact(std::string_view name, const HostBlock<T>& X) {
  uLong sum = 0;
  for (Index i = 0; i < X.rows(); ++i) sum = add(sum, &X.view()(i, 0), X.cols(), sizeof(T));
  return fact(name, X.rows(), X.cols(), sum);
}

/// Checks a checkpoint file that the run will write. A file in the output folder is checked later
/// by the solver, because the folder does not exist yet.
void check_file(const Config& config, const std::vector<std::string_view>& outputs) {
  const auto normal = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal();
  };
  const std::filesystem::path file = normal(config.request.checkpoint.file);
  const std::filesystem::path folder = normal(config.output.directory / "file").parent_path();
  if (file.parent_path() == folder) {
    if (std::find(outputs.begin(), outputs.end(), file.filename().string()) != outputs.end()) {
      throw ConfigError(origin_of(config, "checkpoint.file"),
                        "checkpoint.file is a file that the run writes its results to");
    }
    std::error_code error;
    if (!config.request.checkpoint.resume && !std::filesystem::exists(folder, error)) return;
  }
  check_checkpoint_file(config.request.checkpoint);
}

}  // namespace

template <Scalar T>
void prepare_checkpoint(Config& config, bool resume, const HostProblem<T>& input,
                        const ProblemFacts& problem, const std::vector<std::string_view>& outputs) {
  CheckpointOptions& checkpoint = config.request.checkpoint;
  if (checkpoint.file.empty()) {
    if (!resume) return;
    throw ConfigError(config.effective.origin,
                      "--resume needs the checkpoint.file that an earlier run kept");
  }
  checkpoint.resume = resume;
  checkpoint.on_failure = [](const std::string& reason) {
    spdlog::error("warning: no checkpoint was kept: {}", reason);
  };
  check_file(config, outputs);
  checkpoint.identity = {fact("matrix", input.A)};
  std::vector<std::string>& facts = checkpoint.identity;
  if (input.B) facts.push_back(fact("mass", *input.B));
  const auto add_block = [&facts](std::string_view name, const auto& block) {
    if (block.cols() > 0) facts.push_back(fact(name, block));
  };
  add_block("constraints", input.constraints);
  add_block("initial guess", input.initial_guess);
  add_block("right-hand sides", input.rhs);
  add_block("near null space", input.near_null);
  add_block("coordinates", input.coordinates);
  facts.push_back(fmt::format("preconditioner: {}", problem.preconditioner));
  facts.push_back(fmt::format("device: {}", problem.device));
  facts.push_back(fmt::format("spmm.kernel: {}", config.request.spmm.kernel));
}

template void prepare_checkpoint(Config&, bool, const Problem&, const ProblemFacts&,
                                 const std::vector<std::string_view>&);
template void prepare_checkpoint(Config&, bool, const ComplexProblem&, const ProblemFacts&,
                                 const std::vector<std::string_view>&);

std::string checkpoint_hint(const CheckpointOptions& checkpoint) {
  std::error_code ignored;
  if (checkpoint.file.empty() || !std::filesystem::exists(checkpoint.file, ignored)) return "";
  return fmt::format("checkpoint in {}: --resume goes on from it\n", checkpoint.file.string());
}

}  // namespace heddle::apps
