#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>

namespace heddle {

/// Whether the graph of a symmetric, distributed A shows no null vector: `graph_null_space` of the
/// whole matrix has dimension 0. That is so if a row violates its condition (1), or if each
/// component of the graph has a row in which (1) holds without equality, for ones as sizes and, for
/// an A with ones on its diagonal, for the square roots of the numbers of entries per row. False
/// where a component may have a null vector, and where many messages would be needed to know,
/// because paths in the graph pass often from process to process. No process needs memory for more
/// than its rows and its halo. All processes of the context call it together.
bool shows_no_null_vector(HostContext& context, const DistributedCsrView<double, HostSpace>& A);

}  // namespace heddle
