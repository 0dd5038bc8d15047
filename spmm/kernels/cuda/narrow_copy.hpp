#pragma once

#include <string_view>

namespace heddle::detail::cuda {

/// What kernels keep that read A in compressed rows and nothing else; see `narrow_values.hpp`.
inline constexpr std::string_view kNarrowCopy =
    "4·nnz, shared by kernels, where all values are exact in single precision";

}  // namespace heddle::detail::cuda
