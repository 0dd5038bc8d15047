#pragma once

#include <heddle/linalg/data/views.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace heddle::detail {

/// A product whose kernel was chosen by measuring.
struct VerdictKey {
  std::uint64_t pattern = 0;  ///< hash of A's sparsity pattern (`pattern_hash`)
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  Index N = 0;
  int scalar_bytes = 0;
  std::string device;  ///< name of the GPU

  auto operator<=>(const VerdictKey&) const = default;
};

/// Kernels that measuring found fastest. All threads of a process share one object.
///
/// With a file, verdicts outlive the process. The file is text: a first line that names its format,
/// then a line per verdict, which ends in a checksum. Several processes may use one file: each
/// appends whole lines. Nothing in a file is trusted: a file with another first line is not changed
/// and not used, and a line whose checksum does not fit is passed over.
class Verdicts {
 public:
  /// The kernel for `key`: from memory, or else from `file` unless that is empty. Says in `warning`
  /// what was wrong with the file, if anything.
  std::optional<std::string> find(const VerdictKey& key, const std::string& file,
                                  std::string& warning);

  /// Keeps a verdict, also in `file` unless that is empty. Folders are made. A file that cannot be
  /// written, or that is not one of heddle's, is left alone, and `warning` says so.
  void keep(const VerdictKey& key, const std::string& kernel, const std::string& file,
            std::string& warning);

 private:
  std::mutex mutex_;
  std::map<VerdictKey, std::string> known_;
};

/// The verdicts of this process.
Verdicts& verdicts();

}  // namespace heddle::detail
