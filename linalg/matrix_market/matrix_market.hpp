#pragma once

#include <filesystem>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <string_view>

/// The Matrix Market exchange formats, plain or gzipped (by the file's first bytes, not its name).
/// Source: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996.
///
/// Read: `coordinate` and `array`; `real`, `double`, `integer`, `pattern` (entries are 1);
/// `general`, `symmetric`, `skew-symmetric` (expanded). Entries given twice are summed in the order
/// of the file, zeros that a coordinate file gives are kept. Blank lines, lines that end in CR LF,
/// plus signs and Fortran's exponents (1.0D+03) are understood; values too small for T become 0.
/// Refused with an `InputError` that names file and line, the first that is wrong: `complex` and
/// `hermitian`, a header that is not one, counts that are not met, indices out of range, entries
/// above the diagonal of a symmetric file, numbers that are not numbers, values too large for T,
/// NaN and Inf. A shape of over 2²⁷ rows (for a block: places) is refused too if the file holds
/// less than an entry for each 1024 of them: a damaged size line must not take the machine's
/// memory.
namespace heddle {

/// The matrix in `path`, either format; the zeros of an `array` are left out. Parses in parallel on
/// the context's threads; the same bits for any number of them. Throws `InputError`, `OutOfMemory`.
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

/// The same from text in memory; `name` stands for the path in messages.
template <Scalar T>
MultiVector<T, HostSpace> parse_matrix_market_block(HostContext& context, std::string_view text,
                                                    std::string_view name);

/// Writes `coordinate real general`, or `symmetric` (the lower triangle alone) if asked, row by
/// row, with enough digits to read the same values back. The file appears under its name only when
/// complete. NaN and Inf are written so, and the readers refuse them. Throws `InputError` if it
/// cannot be written, `InvalidArgument` if `symmetric` is asked of a matrix that is not square.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, CsrView<T, HostSpace> A,
                         bool symmetric = false);

/// Writes `array real general` (column by column). As above.
template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X);

}  // namespace heddle
