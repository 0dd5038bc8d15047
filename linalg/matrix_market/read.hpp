#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/files/file_content.hpp>

/// The readers of Matrix Market files for a file in memory. They free the text as soon as it is
/// parsed, because it is larger than the entries.
namespace heddle::detail {

template <Scalar T>
HostCsrMatrix<T> take_matrix_market(HostContext& context, FileContent file, std::string_view name);

template <Scalar T>
MultiVector<T, HostSpace> take_matrix_market_block(HostContext& context, FileContent file,
                                                   std::string_view name);

}  // namespace heddle::detail
