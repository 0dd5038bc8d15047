#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/spgemm.hpp>

namespace heddle::detail {

/// Writes columns and values of C = A B to host memory, in blocks of rows as `spgemm_to_host`.
/// `plan`: that of the whole product, which computes it where one block is enough. `row_offsets`:
/// those of C in host memory, which need not begin with 0.
template <Scalar T>
void multiply_to_host(CudaContext& context, const SpgemmPlan<T, CudaContext>& plan,
                      CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B,
                      const Index* row_offsets, std::size_t device_bytes, std::int32_t* columns,
                      T* values);

}  // namespace heddle::detail
