#pragma once

#include <heddle/apps/spgemm/format.hpp>

#include "spgemm/comparison.hpp"

namespace heddle::lab {

/// Adds the times of C = A B in diagonal format, by those of cpu, gpu and hybrid that are asked
/// for, and sets `comparison.convert_ms`.
template <Scalar T>
void compare_bands(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const FormatChoice& format,
                   const SpgemmComparisonOptions& options, SpgemmComparison& comparison);

}  // namespace heddle::lab
