#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <heddle/spmm/select/select.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {
namespace {

constexpr std::array<std::string_view, 11> kNames = {
    "row_split",     "row_parallel",  "row_cached",       "row_broadcast",
    "merge",         "merge_path",    "nonzero_parallel", "panel_mma",
    "cusparse_alg1", "cusparse_alg2", "cusparse_alg3"};

/// σ/d up to which a few lane groups a row even rows out, and from which only equal nonzeros do.
constexpr double kUneven = 1.2;
constexpr double kVeryUneven = 2;
/// A row that long against the mean keeps its lanes busy while all others wait.
constexpr double kHeavyRow = 64;
/// R(8) from which a row of B shared by a panel pays for the panel's zeros; narrow blocks need
/// more.
constexpr double kPanelReuse = 2;
constexpr double kNarrowPanelReuse = 4;
/// R(8) below which neighbouring rows have nothing in common, so that L1 has only A to serve.
constexpr double kNoReuse = 1.1;
/// Columns up to which a row of B is no more than one or two sectors.
constexpr Index kNarrow = 8;
/// Columns up to which lanes over nonzeros keep a warp busier than lanes over columns.
constexpr Index kVeryNarrow = 4;
/// Columns up to which a warp has lane groups to share out among the nonzeros of a row.
constexpr Index kSeveralGroups = 16;
/// Mean row length from which a very narrow block keeps several lane groups a row busy.
constexpr double kLongRows = 32;
/// Mean row length below which finished rows count as much as nonzeros.
constexpr double kManyRows = 32;
/// Entries of C from which a thread for one or two of them keeps an H200 busy: what it holds at
/// once.
constexpr Index kBusyDevice = 132 * 2048;
/// Mean row length below which Yang et al. split nonzeros.
constexpr double kShortRows = 9.35;

bool has_panels(const MatrixFeatures& A, Index N) noexcept {
  const bool gather_is_good = N <= kNarrow && A.variation() <= kUneven;
  return N > kVeryNarrow && A.reuse_8 >= (gather_is_good ? kNarrowPanelReuse : kPanelReuse);
}

bool is_very_uneven(const MatrixFeatures& A) noexcept {
  return A.variation() > kVeryUneven || static_cast<double>(A.row_max) > kHeavyRow * A.row_mean;
}

CudaKernel by_nonzeros(const MatrixFeatures& A, Index N) noexcept {
  if (N <= kVeryNarrow) return CudaKernel::nonzero_parallel;
  return is_very_uneven(A) && A.row_mean < kManyRows ? CudaKernel::merge_path : CudaKernel::merge;
}

CudaKernel by_rows(const MatrixFeatures& A, Index N) noexcept {
  if (N <= kVeryNarrow && A.row_mean >= kLongRows) return CudaKernel::row_parallel;
  return A.reuse_8 < kNoReuse ? CudaKernel::row_cached : CudaKernel::row_split;
}

}  // namespace

const std::vector<std::string_view>& spmm_choices() {
  static const std::vector<std::string_view> kWays = {"auto", "rule", "rule_row_mean", "measure"};
  return kWays;
}

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
  if (has_panels(A, N)) {
    return {CudaKernel::panel_mma,
            fmt::format("eight neighbouring rows use a row of B {:.1f} times", A.reuse_8)};
  }
  std::string why =
      fmt::format("row lengths spread by {:.2f} of their mean {:.1f}, the longest is {}",
                  A.variation(), A.row_mean, A.row_max);
  if (is_very_uneven(A)) return {by_nonzeros(A, N), std::move(why)};
  if (A.variation() > kUneven) {
    return {N <= kSeveralGroups ? CudaKernel::row_parallel : by_nonzeros(A, N), std::move(why)};
  }
  return {by_rows(A, N), std::move(why)};
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
  if (A.reuse_8 >= kNoReuse) consider(CudaKernel::panel_mma);
  if (N <= kSeveralGroups && A.row_mean > kVeryNarrow) consider(CudaKernel::row_parallel);
  consider(A.variation() > kUneven ? by_nonzeros(A, N) : by_rows(A, N));
  return candidates;
}

int row_groups(const MatrixFeatures& A) noexcept {
  const double groups = std::clamp(A.row_mean / 4, 1.0, 32.0);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(groups))));
}

int row_lanes(const MatrixFeatures& A) noexcept {
  constexpr double kTwoRounds = 8;
  constexpr int kWarpSize = 32;
  return A.row_mean <= kTwoRounds ? kWarpSize / 2 : kWarpSize;
}

int forced_row_groups(const MatrixFeatures& A, Index N) noexcept {
  const bool even = A.variation() <= kUneven && !is_very_uneven(A);
  return even && A.rows * N >= kBusyDevice ? 1 : row_groups(A);
}

}  // namespace heddle
