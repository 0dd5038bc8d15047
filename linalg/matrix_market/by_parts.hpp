#pragma once

#include <cstdint>
#include <filesystem>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/matrix_market/entries.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <optional>

/// Matrix Market files of which each of several processes reads a part, and none the whole.
namespace heddle {

/// The facts about a file by which a process reads its part.
struct MatrixMarketFile {
  std::filesystem::path path{};  ///< absolute
  std::uint64_t number = 0;      ///< `file_number`
  std::uint64_t bytes = 0;
  matrix_market::Header header{};
};

/// The file at `path` if it can be read by parts: one of real numbers in the format `coordinate`
/// that is not compressed, with a square matrix and its size line in the first MiB. None also where
/// something is wrong with it, for which `read_matrix_market` has the message.
std::optional<MatrixMarketFile> file_by_parts(const std::filesystem::path& path);

/// The entries in the part of a file that this process has read.
class MatrixMarketPart {
 public:
  /// Reads the part of this process, of as many bytes as that of others. None, on all processes,
  /// where one of them does not find the file, a line is wrong, or the number of entries is not
  /// that of the header. Messages with the line are left to `read_matrix_market`. All processes of
  /// the context call it together. Throws `OutOfMemory`.
  static std::optional<MatrixMarketPart> read(HostContext& context, const MatrixMarketFile& file);

  /// The rows of this process in `ranges`, with columns in global numbers, ascending in each row.
  /// They have the bits of those that `read_matrix_market` reads: entries given twice are summed in
  /// the order of the file. All processes of the context call it together, any number of times.
  /// Throws `OutOfMemory`.
  HostCsrMatrix<double> rows(HostContext& context, const RowRanges& ranges) const;

 private:
  MatrixMarketPart(const matrix_market::Header& header, matrix_market::Entries<double> entries)
      : header_(header), entries_(std::move(entries)) {}

  matrix_market::Header header_;
  matrix_market::Entries<double> entries_;
};

}  // namespace heddle
