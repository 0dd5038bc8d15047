#include <algorithm>
#include <cassert>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/lanczos/krylov_basis.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace heddle {
namespace {

/// Each round of orthogonalisation takes a block from noise to orthonormal; random columns that
/// replace what was noise take one more.
constexpr int kMaxRounds = 5;

/// G ← (G + Gᵀ)/2.
void symmetrize(SmallView<double, HostSpace> G) {
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i < j; ++i) G(i, j) = G(j, i) = 0.5 * (G(i, j) + G(j, i));
  }
}

}  // namespace

template <Scalar T, class Ctx>
KrylovBasis<T, Ctx>::KrylovBasis(Ctx& context, Index n, Index max_basis, Index block, bool pencil)
    : V_(context, n, max_basis + block),
      front_(context, n, block),
      work_(context, n, block),
      image_(context, pencil ? n : 0, pencil ? block : 0),
      orthogonalizer_(context, block, max_basis),
      host_(std::make_unique<HostContext>(1)),
      T_(*host_, max_basis, max_basis),
      column_(*host_, max_basis + block, block),
      small_host_(*host_, max_basis, block),
      coefficients_(context, max_basis + block, block),
      packet_(context, (max_basis + block) * block + 2 * CholeskyQrStatus::rows),
      small_(context, max_basis, max_basis),
      max_basis_(max_basis),
      block_(block) {}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept {
  B_ = B;
  seed_ = seed;
  streams_ = 0;
  counts_ = {};
  locked_ = order_ = coupled_from_ = 0;
  multiplied_ = false;
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::draw_front(Ctx& context, ConstBlock guess) {
  fill_random(context, seed_, streams_++, work_.view());
  const Index guesses = std::min(block_, guess.cols());
  if (guesses > 0) copy<T>(context, guess.columns(0, guesses), work_.columns(0, guesses));
  coupled_from_ = 0;
  return adopt_front(context);
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::combine_front(Ctx& context, ConstSmallView<double, HostSpace> C) {
  send(context, C, small_.view(C.rows, C.cols));
  heddle::multiply<T>(context, 1, V(), small_.view(C.rows, C.cols), 0, work_.view());
  order_ = coupled_from_ = 0;
  return adopt_front(context);
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::multiply(Ctx& context, LinearOperator<T, Ctx>& F) {
  F.apply(context, front_.view(), work_.view());  // U = F V₊                    n×b
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  packet_.clear();
  packed_column_ = packet_.add(order_ - coupled_from_ + block_, block_);
  coefficients_now_ = packed_column_.there;
  gram(context, coupled(), image(context, work_.view()), packed_column_.there);
  multiplied_ = true;
  looked_ = false;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::look(Ctx& context) {
  if (looked_) return;
  packet_.fetch(context);
  unpack_column();
}

/// What `multiply` made, from the packet just fetched.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::unpack_column() {
  const SmallView<double, HostSpace> column = this->column();
  const SmallView<double, HostSpace> packed = packed_column_.here;
  for (Index j = 0; j < block_; ++j) {
    std::fill_n(&column(0, j), coupled_from_, 0.0);
    std::copy_n(&packed(0, j), packed.rows, &column(coupled_from_, j));
  }
  symmetrize(column.block(order_, 0, block_, block_));
  looked_ = true;
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::expand(Ctx& context, LinearOperator<T, Ctx>& F) {
  assert(multiplied_ && !full());
  const PhaseScope phase(context, Phase::orthogonalize);
  const ConstBlock coupled = this->coupled();
  subtract_coupled(context, coupled);
  const bool common = queue_front(context);
  append_column();
  if (common) {
    ++counts_.cholqr2;
    take_front(context);
    return {};
  }
  F.apply(context, front_.view(), work_.view());  // what was queued spoilt it
  subtract_coupled(context, coupled);
  return adopt_front(context);
}

/// W = U − [V V₊] C over the columns that are coupled.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::subtract_coupled(Ctx& context, ConstBlock coupled) {
  heddle::multiply<T>(context, -1, coupled, coefficients_now_, 1, work_.view());
}

/// W ← an orthonormal basis of W against all of [V V₊] in the common case; one fetch, which brings
/// what `multiply` made, too. False where W is lost.
template <Scalar T, class Ctx>
bool KrylovBasis<T, Ctx>::queue_front(Ctx& context) {
  const Block W = work_.view();
  const Block BW = B_ == nullptr ? W : image_.view();
  const ConstBlock V = V_.columns(0, locked_ + order_ + block_);
  const auto status = packet_.add(CholeskyQrStatus::rows, 2);
  image(context, W);
  orthogonalizer_.gram_schmidt(context, {}, W, BW, false,
                               status.there.block(0, 0, CholeskyQrStatus::rows, 1));
  image(context, W);
  orthogonalizer_.gram_schmidt(context, {{V, V}}, W, BW, false,
                               status.there.block(0, 1, CholeskyQrStatus::rows, 1));
  packet_.fetch(context);
  if (!looked_) unpack_column();
  return came_out_orthonormal<T>(status.here, block_);
}

/// V ← [V V₊], T ← [T S; Sᵀ V₊ᵀBU].
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::append_column() {
  const SmallView<double, HostSpace> column = this->column();
  const SmallView<double, HostSpace> all = T_.view(max_basis_, max_basis_);
  for (Index j = 0; j < block_; ++j) {
    for (Index i = 0; i < order_ + block_; ++i) {
      all(i, order_ + j) = all(order_ + j, i) = column(i, j);
    }
  }
  coupled_from_ = order_;
  order_ += block_;
  multiplied_ = false;
}

/// V₊ ← W.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::take_front(Ctx& context) {
  copy<T>(context, work_.view(), V_.columns(locked_ + order_, block_));
  std::swap(front_, work_);
}

/// V₊ ← an orthonormal basis of what remains of the span of `work_`, filled up at random.
template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::adopt_front(Ctx& context) {
  const PhaseScope phase(context, Phase::orthogonalize);
  multiplied_ = false;
  const Block W = work_.view();
  const Block BW = B_ == nullptr ? W : image_.view();
  for (int round = 0; round < kMaxRounds; ++round) {
    if (B_ != nullptr) B_->apply(context, W, BW);
    const OrthoReport report = orthogonalizer_.orthonormalize(context, W, BW);
    if (report.indefinite || !report.finite) return {report.indefinite, report.finite};
    counts_.add(report, block_);
    const Index lost = block_ - report.rank;
    if (lost > 0) fill_random(context, seed_, streams_++, W.columns(report.rank, lost));
    // Wᵀ B W is I − DᵀD after the projection W − V D.
    const bool orthonormal = project(context) <= std::sqrt(std::numeric_limits<T>::epsilon());
    if (lost == 0 && orthonormal) break;
  }
  take_front(context);
  return {};
}

/// W ← W − V D with D = VᵀBW, V and the locked vectors together: max ‖d_j‖₂.
template <Scalar T, class Ctx>
double KrylovBasis<T, Ctx>::project(Ctx& context) {
  const Index cols = locked_ + order_;
  if (cols == 0) return 0;
  const SmallView<double, Space> D = small_.view(cols, block_);
  gram(context, V_.columns(0, cols), image(context, work_.view()), D);
  heddle::multiply<T>(context, -1, V_.columns(0, cols), D, 1, work_.view());
  const SmallView<double, HostSpace> host = small_host_.view(cols, block_);
  fetch(context, D, host);
  double largest = 0;
  for (Index j = 0; j < block_; ++j) {
    double square = 0;
    for (Index i = 0; i < cols; ++i) square += host(i, j) * host(i, j);
    largest = std::max(largest, std::sqrt(square));
  }
  return largest;
}

template <Scalar T, class Ctx>
auto KrylovBasis<T, Ctx>::image(Ctx& context, ConstBlock X) -> ConstBlock {
  if (B_ == nullptr) return X;
  B_->apply(context, X, image_.view());
  return image_.view();
}

template <Scalar T, class Ctx>
double KrylovBasis<T, Ctx>::front_image_norm(Ctx& context, LinearOperator<T, Ctx>& M) {
  const SmallView<double, Space> norms = small_.view(block_, 2);
  const SmallView<double, HostSpace> host = small_host_.view(block_, 2);
  column_norms(context, front(), norms.block(0, 0, block_, 1));
  M.apply(context, front(), image_.view());
  column_norms<T>(context, image_.view(), norms.block(0, 1, block_, 1));
  fetch(context, norms, host);
  double largest = 0;
  for (Index j = 0; j < block_; ++j) largest = std::max(largest, host(j, 1) / host(j, 0));
  return largest;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::restart(Ctx& context, ConstSmallView<double, HostSpace> Z,
                                  ConstSmallView<double, HostSpace> theta) {
  const PhaseScope phase(context, Phase::update);
  const Index l = Z.cols;
  const SmallView<double, Space> coefficients = small_.view(Z.rows, l);
  send(context, Z, coefficients);
  heddle::multiply<T>(context, 1, V(), coefficients, 0, V_.columns(locked_, l));  // V ← V Z
  copy<T>(context, front_.view(), V_.columns(locked_ + l, block_));

  const SmallView<double, HostSpace> old = column();
  const SmallView<double, HostSpace> S = small_host_.view(l, block_);
  small_multiply(*host_, 1, Z, true, old.block(0, 0, order_, block_), false, 0, S);  // S ← ZᵀS
  for (Index j = 0; j < block_; ++j) {
    std::copy_n(&old(order_, j), block_, &old(l, j));
    std::copy_n(&S(0, j), l, &old(0, j));
  }
  order_ = l;
  coupled_from_ = 0;
  send_column(context);
  const SmallView<double, HostSpace> kept = T_.view(max_basis_, max_basis_);
  for (Index j = 0; j < l; ++j) {
    std::fill_n(&kept(0, j), l, 0.0);
    kept(j, j) = theta(j, 0);
  }
}

/// The coefficients of the next subtraction after S changed.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::send_column(Ctx& context) {
  const SmallView<double, Space> C = coefficients_.view(order_ + block_, block_);
  send(context, column(), C);
  coefficients_now_ = C;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::lock(Ctx& context, Index j) {
  assert(coupled_from_ == 0 && j <= order_);
  const SmallView<double, HostSpace> diagonal = T_.view(max_basis_, max_basis_);
  const SmallView<double, HostSpace> old = column();
  for (Index i = 0; i + j < order_; ++i) diagonal(i, i) = diagonal(i + j, i + j);
  for (Index c = 0; c < block_; ++c) std::copy(&old(j, c), &old(0, c) + old.rows, &old(0, c));
  locked_ += j;
  order_ -= j;
  send_column(context);
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::lock(Ctx& context, ConstBlock x) {
  assert(order_ == 0 && x.cols() == 1);
  copy<T>(context, x, V_.columns(locked_++, 1));
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::keep_locked(Ctx& context, std::span<const Index> order) {
  assert(order_ == 0 && std::ssize(order) <= locked_);
  const Index kept = std::ssize(order);
  std::vector<double> choice(static_cast<std::size_t>(locked_ * kept));
  const SmallView<double, HostSpace> C{choice.data(), locked_, kept, locked_};
  for (Index j = 0; j < kept; ++j) C(order[static_cast<std::size_t>(j)], j) = 1;
  send(context, C, small_.view(locked_, kept));
  const ConstSmallView<double, Space> there = small_.view(locked_, kept);
  heddle::multiply<T>(context, 1, V_.columns(0, locked_), there, 0, V_.columns(0, kept));
  locked_ = kept;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::archive(Ctx& context, Archive& archive) {
  archive.values(streams_, counts_, locked_, order_, coupled_from_);
  if (archive.loading()) {
    packet_.clear();
    packed_column_ = packet_.add(order_ - coupled_from_ + block_, block_);
  }
  for (const SmallView<double, HostSpace> matrix :
       {T_.view(max_basis_, max_basis_).block(0, 0, order_, order_), packed_column_.here}) {
    for (Index j = 0; j < matrix.cols; ++j) {
      for (Index i = 0; i < matrix.rows; ++i) archive.values(matrix(i, j));
    }
  }
  if (!archive.loading()) return;
  send(context, packed_column_.here, packed_column_.there);
  coefficients_now_ = packed_column_.there;
  unpack_column();
  multiplied_ = true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class KrylovBasis<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
