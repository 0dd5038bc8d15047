#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <heddle/spmm/select.hpp>

namespace heddle {
namespace {

constexpr std::array<std::string_view, 11> kNames = {
    "row_split",     "row_parallel",  "row_cached",       "row_broadcast",
    "merge",         "merge_path",    "nonzero_parallel", "panel_mma",
    "cusparse_alg1", "cusparse_alg2", "cusparse_alg3"};

/// σ/d from which rows are so uneven that equal nonzeros beat equal rows.
constexpr double kUneven = 1.2;
/// A row that long against the mean keeps one lane group busy while the others wait.
constexpr double kHeavyRow = 64;
/// R(8) from which a row of B shared by a panel pays for the panel's zeros.
constexpr double kPanelReuse = 2;
constexpr Index kPanelColumns = 16;
/// Columns up to which lanes over nonzeros keep a warp busier than lanes over columns.
constexpr Index kNarrow = 4;
/// Mean row length below which Yang et al. split nonzeros.
constexpr double kShortRows = 9.35;

bool is_uneven(const MatrixFeatures& A) noexcept {
  return A.variation() > kUneven || static_cast<double>(A.row_max) > kHeavyRow * A.row_mean;
}

}  // namespace

std::span<const std::string_view> cuda_kernel_names() noexcept { return kNames; }

std::string_view name_of(CudaKernel kernel) noexcept {
  return kNames[static_cast<std::size_t>(kernel)];
}

std::optional<CudaKernel> cuda_kernel_named(std::string_view name) noexcept {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<CudaKernel>(found - kNames.begin());
}

KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t) {
  if (A.reuse_8 >= kPanelReuse && N >= kPanelColumns) {
    return {CudaKernel::panel_mma,
            fmt::format("eight neighbouring rows use a row of B {:.1f} times", A.reuse_8)};
  }
  const std::string spread =
      fmt::format("row lengths spread by {:.2f} of their mean {:.1f}, the longest is {}",
                  A.variation(), A.row_mean, A.row_max);
  if (is_uneven(A)) {
    return {N <= kNarrow ? CudaKernel::nonzero_parallel : CudaKernel::merge, spread};
  }
  return {N <= kNarrow ? CudaKernel::row_parallel : CudaKernel::row_split, spread};
}

KernelChoice choose_by_row_mean(const MatrixFeatures& A) {
  return {A.row_mean < kShortRows ? CudaKernel::merge : CudaKernel::row_split,
          fmt::format("mean row length {:.2f}, bound {}", A.row_mean, kShortRows)};
}

std::vector<CudaKernel> kernel_candidates(const MatrixFeatures& A, Index N,
                                          std::size_t scalar_bytes) {
  std::vector<CudaKernel> candidates = {choose_by_features(A, N, scalar_bytes).kernel};
  const auto consider = [&](CudaKernel kernel) {
    if (std::find(candidates.begin(), candidates.end(), kernel) == candidates.end()) {
      candidates.push_back(kernel);
    }
  };
  if (A.reuse_8 >= kPanelReuse) consider(CudaKernel::panel_mma);
  consider(N <= kNarrow ? CudaKernel::row_parallel : CudaKernel::row_split);
  consider(N <= kNarrow ? CudaKernel::nonzero_parallel : CudaKernel::merge);
  return candidates;
}

int row_groups(const MatrixFeatures& A) noexcept {
  const double groups = std::clamp(A.row_mean / 4, 1.0, 32.0);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(groups))));
}

}  // namespace heddle
