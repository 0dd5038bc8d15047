#pragma once

#include <filesystem>
#include <heddle/linalg/data/block_source.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <string_view>

/// NumPy's array files (.npy): format versions 1.0, 2.0 and 3.0, C and Fortran order, float32,
/// float64, complex64, complex128, integers of 8 to 64 bits and bool, of either byte order. A
/// complex T takes real numbers, too. An array of one dimension is a column. Source: NumPy
/// Enhancement Proposal 1, A Simple File Format for NumPy Arrays.
///
/// The readers throw an `InputError` for: a damaged or truncated file, complex numbers if T is
/// real, Python objects, text and structures, no or more than two dimensions, NaN, Inf, and numbers
/// too large for T. Memory is proportional to the size of the file.
namespace heddle {

/// The dense block in `bytes`, the content of an .npy file. Messages use `name` for the file.
/// Throws `InputError`, `OutOfMemory`.
template <Scalar T>
MultiVector<T, HostSpace> parse_npy_block(HostContext& context, std::string_view bytes,
                                          std::string_view name);

/// The same as a sparse matrix. Zeros are not stored.
template <Scalar T>
HostCsrMatrix<T> parse_npy(HostContext& context, std::string_view bytes, std::string_view name);

/// Writes X as an .npy file: format version 1.0, C order, shape (n, b), in X's scalar type and this
/// machine's byte order. The file appears under its name only when it is complete. Throws
/// `InputError` if it cannot be written.
template <Scalar T>
void write_npy(const std::filesystem::path& path, const BlockSource<T>& X);

/// The same of a block in memory.
template <Scalar T>
void write_npy(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X) {
  write_npy(path, BlockSource<T>(X));
}

}  // namespace heddle
