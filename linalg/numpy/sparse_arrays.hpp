#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/numpy/npy_array.hpp>
#include <map>
#include <string>

namespace heddle::detail {

/// The arrays of a sparse matrix of SciPy, by the names under which save_npz stores them.
using SparseArrays = std::map<std::string, NpyArray, std::less<>>;

/// The names of arrays that a sparse matrix may have.
inline constexpr std::array<std::string_view, 8> kSparseArrayNames = {
    "format", "shape", "data", "indices", "indptr", "row", "col", "offsets"};

/// The matrix that `arrays` describe. Throws `InputError` with `name` as the file if an array is
/// missing or does not fit the others. Throws `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> assemble_sparse_arrays(HostContext& context, const SparseArrays& arrays,
                                        std::string_view name);

}  // namespace heddle::detail
