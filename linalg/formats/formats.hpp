#pragma once

#include <filesystem>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Matrices and blocks in files of any format that heddle reads. A format is recognised by the
/// first bytes of the file, else by the extension of its name. A gzipped file of any format is read
/// like the file itself, whether its name ends in .gz or not.
namespace heddle {

/// A format of files that heddle reads.
struct FileFormat {
  std::string_view name;
  std::vector<std::string_view> extensions;  ///< with the dot, such as ".mtx"
  bool holds_blocks = true;  ///< dense blocks can be read from it, not only matrices
};

/// All formats, in the order in which they are recognised.
const std::vector<FileFormat>& file_formats();

/// The formats and their extensions in one line for a help text: those that blocks can be read
/// from, or all.
std::string describe_formats(bool for_blocks);

/// The kind of a file that heddle does not read, and the remedy, such as "is a MATLAB file:
/// …". Told by its first bytes, else by the extension of its name. Empty for any other file.
std::string_view foreign_format(std::string_view bytes, const std::filesystem::path& path);

/// Whether the file `path` says that its numbers are complex: the banner of a Matrix Market file,
/// or the type of the values of a NumPy array or a SciPy sparse matrix, also gzipped. False for
/// other files, and for those that cannot be read. Reads at most 1 MiB, but the whole of an .npz
/// file, whose values it does not unpack. Throws `OutOfMemory`.
bool holds_complex_numbers(const std::filesystem::path& path);

/// The sparse matrix in the file `path`. Zeros of dense files are not stored. `first_line` is for
/// an edge list. A complex T takes files of real numbers, too. Throws `InputError` for a file whose
/// format cannot be told and as the format's reader does, and `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> read_matrix(HostContext& context, const std::filesystem::path& path,
                             FirstLine first_line = FirstLine::automatic);

/// The dense block in the file `path`, one column per vector. Entries that a sparse file does not
/// store are 0. Throws `InputError`, also for a format that holds graphs only, and `OutOfMemory`.
template <Scalar T>
MultiVector<T, HostSpace> read_block(HostContext& context, const std::filesystem::path& path);

}  // namespace heddle
