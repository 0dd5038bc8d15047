#pragma once

#include <heddle/apps/spgemm/format.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>

namespace heddle::apps {

/// C in host memory, and where it was computed: "the host", or the name of a GPU.
template <Scalar T>
struct SparseProduct {
  HostCsrMatrix<T> C;
  std::string device;
};

/// C = A B, computed on a GPU if one can be used, in blocks of rows of at most
/// `device_bytes` of its memory (0: most of what is free), else on the host. Throws as
/// `spgemm_to_host` does. In diagonal format C has the same pattern. A GPU computes it if C and the
/// factors fit into `device_bytes` as a whole.
template <Scalar T>
SparseProduct<T> multiply_on_any(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B, std::size_t device_bytes,
                                 const FormatChoice& format);

}  // namespace heddle::apps
