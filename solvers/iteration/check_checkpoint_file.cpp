#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/iteration/checkpoint_file.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <system_error>

namespace heddle {

void check_checkpoint_file(const CheckpointOptions& options) {
  if (options.file.empty()) return;
  std::error_code error;
  const bool there = std::filesystem::is_regular_file(options.file, error);
  if (there || options.resume) detail::CheckpointFile(options.file, detail::Archive::Mode::load);
  if (there && !options.resume) {
    throw InputError(options.file.string(), 0,
                     "holds the checkpoint of an earlier solve: resume it, or remove the file");
  }
  OutputFile probe(options.file, detail::CheckpointFile::kTemporarySuffix);
}

}  // namespace heddle
