#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// The CSR product of cuSPARSE with its preprocessing step, as a baseline and a fallback.
/// `kAlgorithm` is 1, 2 or 3 of CUSPARSE_SPMM_CSR_ALG*.
///
/// Keeps a copy of the row offsets in 32 bits, the faster of cuSPARSE's index types, and the buffer
/// and preprocessing for one shape of B and C at a time. Another N or leading dimension repeats the
/// preprocessing. Not deterministic: on one H200, the bits of algorithms 2 and 3 changed from run
/// to run. Throws `InvalidArgument` if A has 2³¹ rows or entries, `DeviceError` if cuSPARSE fails.
template <int kAlgorithm>
struct CusparseKernel {
  static constexpr std::string_view kNames[3] = {"cusparse_alg1", "cusparse_alg2", "cusparse_alg3"};
  static constexpr KernelTraits kTraits = {.name = kNames[kAlgorithm - 1],
                                           .description = "cuSPARSE's product for CSR",
                                           .keeps = "4·(rows + 1) and cuSPARSE's buffer",
                                           .limits = "fewer than 2^31 rows and nonzeros",
                                           .repeatable = false,
                                           .prepares_by_width = false};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
