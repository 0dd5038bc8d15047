#pragma once

#include <filesystem>
#include <heddle/linalg/csr_matrix.hpp>
#include <heddle/linalg/multivector.hpp>
#include <string_view>

/// The Matrix Market exchange formats, plain or gzipped (by the file's first bytes, not its name).
/// Source: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996.
///
/// Read: `coordinate` and `array`; `real`, `double`, `integer`, `pattern` (entries are 1);
/// `general`, `symmetric`, `skew-symmetric` (expanded). Entries given twice are summed. Refused
/// with an `InputError` that names file and line: `complex` and `hermitian`, a header that is not
/// one, counts that are not met, indices out of range, entries above the diagonal of a symmetric
/// file, numbers that are not numbers, NaN and Inf.
namespace heddle {

/// The matrix in `path`, either format. Parses in parallel on the context's threads.
/// Throws `InputError`, `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> read_matrix_market(HostContext& context, const std::filesystem::path& path);

/// The same from text in memory; `name` stands for the path in messages.
template <Scalar T>
HostCsrMatrix<T> parse_matrix_market(HostContext& context, std::string_view text,
                                     std::string_view name);

/// The dense rows×cols block in `path` (`array`, or `coordinate` filled with zeros): constraints,
/// initial guesses, right-hand sides. Throws `InputError`, `OutOfMemory`.
template <Scalar T>
MultiVector<T, HostSpace> read_matrix_market_block(HostContext& context,
                                                   const std::filesystem::path& path);

/// Writes `coordinate real general`, or `symmetric` (lower triangle) if asked, with enough digits
/// to read the same values back. The file appears under its name only when complete.
/// Throws `InputError` if it cannot be written.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, CsrView<T, HostSpace> A,
                         bool symmetric = false);

/// Writes `array real general` (column by column). As above.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X);

}  // namespace heddle
