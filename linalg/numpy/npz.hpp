#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <string_view>

/// SciPy's sparse matrices (scipy.sparse.save_npz): csr, csc, coo, bsr and dia, compressed or not,
/// with values and indices of any type that an .npy file may have here.
///
/// Duplicate entries are summed in the order of the file, and columns need not be sorted. Explicit
/// zeros of csr, csc and coo are kept, those of the blocks of bsr and of the diagonals of dia are
/// not.
///
/// The readers throw an `InputError` for what the readers of .npy files refuse, for a damaged
/// archive, for archives that hold no sparse matrix, and for indices or shapes that do not fit each
/// other. Memory is proportional to the size of the file and its inflated size, which is at most
/// 1032 times as large.
namespace heddle {

/// The sparse matrix in `bytes`, the content of an .npz file. Messages use `name` for the file.
/// Throws `InputError`, `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> parse_npz(HostContext& context, std::string_view bytes, std::string_view name);

/// The same as a dense block, with zeros for the entries that are not stored.
template <Scalar T>
MultiVector<T, HostSpace> parse_npz_block(HostContext& context, std::string_view bytes,
                                          std::string_view name);

namespace detail {

/// Whether `bytes`, the content of an .npz file, holds a sparse matrix of complex numbers. False
/// for archives that `parse_npz` refuses.
bool is_complex_npz(std::string_view bytes);

}  // namespace detail

}  // namespace heddle
