#pragma once

#include <string_view>

namespace heddle::detail::cuda {

/// The copies of kernels that read A in compressed rows and nothing else; see `narrow_values.hpp`.
inline constexpr std::string_view kNarrowCopy =
    "4·nnz, shared by kernels, where all values are exact in single precision";

/// The same, and segments of long rows with the sums of their parts.
inline constexpr std::string_view kNarrowCopyAndSegments =
    "as row_split; 16 bytes per segment of a long row, N·sizeof(T) per segment of those in several";

}  // namespace heddle::detail::cuda
