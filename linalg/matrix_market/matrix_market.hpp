#pragma once

#include <filesystem>
#include <heddle/linalg/data/block_source.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <string_view>

/// The Matrix Market exchange formats, plain or gzipped. Gzip is recognised by the file's first
/// bytes, not by its name.
/// Source: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996.
///
/// The readers accept `coordinate` and `array`; `real`, `double`, `integer`, `pattern` (whose
/// entries are 1) and, for a complex T, `complex`; `general`, `symmetric`, `skew-symmetric` and
/// `hermitian` (which are expanded, the last one with conjugates). A complex T takes real numbers,
/// too, with the imaginary part 0. Duplicate entries are summed in the order of the file. Explicit
/// zeros of a coordinate file are kept. Blank lines, CR LF line ends, plus signs and Fortran
/// exponents (1.0D+03) are accepted. Values too small for T become 0.
///
/// The readers throw an `InputError` with the file and the first wrong line for: `complex` if T is
/// real, `hermitian` without `complex`, a diagonal of a Hermitian matrix that is not real, an
/// invalid header, fewer or more entries than the header announces, indices out of range, entries
/// above the diagonal of a symmetric file, text that is not a number, a value without its imaginary
/// part, values too large for T, NaN and Inf. They also reject a matrix of more than 2²⁷ rows, or a
/// block of more than 2²⁷ entries, if the file holds fewer than one entry per 1024 of them, so that
/// a damaged size line does not exhaust the memory.
namespace heddle {

/// The sparse matrix in the file `path`, of either format. Zeros of an `array` file are not stored.
/// Parses in parallel on the context's threads and gives the same bits for any number of them.
/// Throws `InputError`, `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> read_matrix_market(HostContext& context, const std::filesystem::path& path);

/// The same from text in memory. Messages use `name` in place of the path.
template <Scalar T>
HostCsrMatrix<T> parse_matrix_market(HostContext& context, std::string_view text,
                                     std::string_view name);

/// The dense rows×cols block in the file `path`, for constraints, initial guesses or right-hand
/// sides. The format is `array`, or `coordinate` with zeros for the missing entries. Throws
/// `InputError`, `OutOfMemory`.
template <Scalar T>
MultiVector<T, HostSpace> read_matrix_market_block(HostContext& context,
                                                   const std::filesystem::path& path);

/// The same from text in memory. Messages use `name` in place of the path.
template <Scalar T>
MultiVector<T, HostSpace> parse_matrix_market_block(HostContext& context, std::string_view text,
                                                    std::string_view name);

/// Writes A as `coordinate real general` row by row, or as `symmetric` (lower triangle only) on
/// request, for a complex A as `coordinate complex general` or `hermitian`. Numbers have enough
/// digits to read the same values back. The file appears under its name only when it is complete.
/// NaN and Inf are written as such, and the readers reject them. Throws `InputError` if the file
/// cannot be written, `InvalidArgument` if `symmetric` is requested for a matrix that is not
/// square.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, CsrView<T, HostSpace> A,
                         bool symmetric = false);

/// Writes a dense block as `array real general` or `array complex general`, column by column.
/// Digits, completeness and errors are as for sparse matrices.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, const BlockSource<T>& X);

/// The same of a block in memory.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X) {
  write_matrix_market(path, BlockSource<T>(X));
}

}  // namespace heddle
