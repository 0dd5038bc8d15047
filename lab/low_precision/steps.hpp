#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>

namespace heddle::lab {

/// Times a step of a recurrence in half precision, C = α A B + β C + δ X, as preconditioners take
/// it: by each kernel, and by the one that is chosen for an A in device memory. In Markdown.
std::string steps_head();
std::string steps_line(CudaContext& context, HostContext& host, const std::string& name,
                       const CsrView<float, HostSpace>& A, Index N);

}  // namespace heddle::lab
