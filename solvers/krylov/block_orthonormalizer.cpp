#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/krylov/block_orthonormalizer.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// One round makes a block orthonormal unless columns are only noise. Random columns that replace
/// noise need another round.
constexpr int kMaxRounds = 5;

/// The largest square of the part of a unit vector outside of a span that is rounding.
template <Scalar T>
constexpr double kInSpan = 100 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

}  // namespace

template <Scalar T, class Ctx>
BlockOrthonormalizer<T, Ctx>::BlockOrthonormalizer(Ctx& context, const RowRange& rows,
                                                   Index max_basis, Index block, bool pencil)
    : rows_(rows),
      block_(block),
      BW_(context, pencil ? rows.local : 0, pencil ? block : 0),
      orthogonalizer_(context, block, max_basis),
      coefficients_(context, max_basis, block),
      host_(1),
      coefficients_host_(*host_, max_basis, block) {}

template <Scalar T, class Ctx>
void BlockOrthonormalizer<T, Ctx>::reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept {
  B_ = B;
  seed_ = seed;
  random_blocks_ = 0;
  counts_ = {};
}

template <Scalar T, class Ctx>
void BlockOrthonormalizer<T, Ctx>::fill(Ctx& context, Block W) {
  fill_random(context, seed_, random_blocks_++, W, rows_.first);
}

template <Scalar T, class Ctx>
auto BlockOrthonormalizer<T, Ctx>::times_B(Ctx& context, ConstBlock X) -> ConstBlock {
  if (B_ == nullptr) return X;
  B_->apply(context, X, BW_.view());
  return BW_.view();
}

template <Scalar T, class Ctx>
void BlockOrthonormalizer<T, Ctx>::queue(Ctx& context, ConstBlock X,
                                         ConstSmallView<Wide<T>, Space> C, ConstBlock V, Block W,
                                         Block Y, SmallView<double, Space> status) {
  if (B_ == nullptr) {
    return orthogonalizer_.subtract_and_orthonormalize(context, X, C, V, W, Y, status);
  }
  const Index rows = CholeskyQrStatus::rows;
  multiply<T>(context, -1, X, C, 1, W);
  orthogonalizer_.cholesky_qr(context, W, times_B(context, W), Y, status.block(0, 0, rows, 1));
  orthogonalizer_.gram_schmidt(context, {{V, V}}, Y, times_B(context, Y),
                               status.block(0, 1, rows, 1));
  copy<T>(context, Y, W);
}

template <Scalar T, class Ctx>
bool BlockOrthonormalizer<T, Ctx>::came_out(ConstSmallView<double, HostSpace> status) noexcept {
  if (!came_out_orthonormal<T>(status, block_)) return false;
  ++counts_.cholqr2;
  return true;
}

template <Scalar T, class Ctx>
FrontStatus BlockOrthonormalizer<T, Ctx>::orthonormalize(Ctx& context, ConstBlock V, Block W) {
  const Block BW = B_ == nullptr ? W : BW_.view();
  for (int round = 0; round < kMaxRounds; ++round) {
    times_B(context, W);
    const OrthoReport report = orthogonalizer_.orthonormalize(context, W, BW);
    if (report.indefinite || !report.finite) return {report.indefinite, report.finite};
    counts_.add(report, W.cols());
    const Index lost = W.cols() - report.rank;
    if (lost > 0) fill(context, W.columns(report.rank, lost));
    // WᵀBW is I − DᵀD after the projection W − V D.
    const bool orthonormal =
        project(context, V, W) <= std::sqrt(std::numeric_limits<RealOf<T>>::epsilon());
    if (lost == 0 && orthonormal) break;
  }
  return {};
}

/// W ← W − V D with D = VᵀBW, for a W with orthonormal columns. Returns max ‖d_j‖₂. Columns that
/// lie in the span of V become random.
template <Scalar T, class Ctx>
double BlockOrthonormalizer<T, Ctx>::project(Ctx& context, ConstBlock V, Block W) {
  if (V.cols() == 0) return 0;
  const SmallView<Wide<T>, Space> D = coefficients_.view(V.cols(), W.cols());
  gram(context, V, times_B(context, W), D);
  multiply<T>(context, -1, V, D, 1, W);
  const SmallView<Wide<T>, HostSpace> host = coefficients_host_.view(V.cols(), W.cols());
  fetch(context, D, host);
  double largest = 0;
  for (Index j = 0; j < host.cols; ++j) {
    double square = 0;
    for (Index i = 0; i < host.rows; ++i) square += squared(host(i, j));
    largest = std::max(largest, std::sqrt(square));
    // Where V and the column have entries in the same few rows only, rounding errors bring in no
    // new direction, however often the column is scaled.
    if (!(1 - square > kInSpan<T>)) fill(context, W.columns(j, 1));
  }
  return largest;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockOrthonormalizer<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
