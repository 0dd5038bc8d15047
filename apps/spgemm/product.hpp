#pragma once

#include <heddle/apps/spgemm/format.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::apps {

/// C = A B in host memory, computed on a GPU if one can be used, in blocks of rows of at most
/// `device_bytes` of its memory (0: most of what is free), else on the host. Throws as
/// `spgemm_to_host` does. In diagonal format C has the same pattern. A GPU computes it if C and the
/// factors fit into `device_bytes` as a whole.
template <Scalar T>
HostCsrMatrix<T> multiply_on_any(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B, std::size_t device_bytes,
                                 const FormatChoice& format);

}  // namespace heddle::apps
