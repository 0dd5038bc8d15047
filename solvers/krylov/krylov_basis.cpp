#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
KrylovBasis<T, Ctx>::KrylovBasis(Ctx& context, const RowRange& rows, Index max_basis, Index block,
                                 bool pencil)
    : V_(context, rows.local, max_basis + block),
      front_(context, rows.local, block),
      work_(context, rows.local, block),
      orthonormalizer_(context, rows, max_basis, block, pencil),
      projected_(max_basis, block),
      column_(context, max_basis + block, block),
      packet_(context, (max_basis + block) * block * Packet<Ctx>::template kDoubles<Wide<T>> +
                           2 * CholeskyQrStatus::rows),
      small_(context, max_basis, max_basis),
      norms_(context, block, 2),
      numbers_(static_cast<std::size_t>(2 * block)),
      max_basis_(max_basis),
      block_(block) {}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept {
  orthonormalizer_.reset(B, seed);
  clear();
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::clear(Index kept) noexcept {
  assert(kept <= locked_);
  projected_.clear();
  locked_ = kept;
  multiplied_ = false;
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::draw_front(Ctx& context, ConstBlock guess) {
  assert(order() == 0);
  orthonormalizer_.fill(context, work_.view());
  const Index guesses = std::min(block_, guess.cols());
  if (guesses > 0) copy<T>(context, guess.columns(0, guesses), work_.columns(0, guesses));
  return orthonormalize(context);
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::combine_front(Ctx& context, ConstSmallView<Wide<T>, HostSpace> C) {
  const SmallView<Wide<T>, Space> there = small_.view(C.rows, C.cols);
  send(context, C, there);
  heddle::multiply<T>(context, 1, V(), there, 0, work_.view());
  projected_.clear();
  return orthonormalize(context);
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::multiply(Ctx& context, LinearOperator<T, Ctx>& F) {
  F.apply(context, front_.view(), work_.view());  // U = F V₊                    n×b
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  packet_.clear();
  packed_column_ = packet_.template add<Wide<T>>(projected_.coupled() + block_, block_);
  coefficients_ = packed_column_.there;
  const ConstBlock BU = orthonormalizer_.times_B(context, work_.view());
  gram(context, coupled(), BU, packed_column_.there);  // S and V₊ᵀBU   (k + b)×b
  multiplied_ = true;
  fetched_ = false;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::fetch_column(Ctx& context) {
  if (fetched_) return;
  packet_.fetch(context);
  projected_.set_column(packed_column_.here);
  fetched_ = true;
}

template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::expand(Ctx& context, LinearOperator<T, Ctx>& F) {
  assert(multiplied_ && !full());
  const PhaseScope phase(context, Phase::orthogonalize);
  const ConstBlock coupled = this->coupled();
  const Index width = locked_ + order() + block_;  // of [V V₊]
  const auto status = packet_.add(CholeskyQrStatus::rows, 2);
  orthonormalizer_.queue(context, coupled, coefficients_, V_.columns(0, width), work_.view(),
                         V_.columns(width, block_), status.there);  // W = U − V T₊
  packet_.fetch(context);
  if (!fetched_) projected_.set_column(packed_column_.here);
  fetched_ = true;
  projected_.append();
  multiplied_ = false;
  if (orthonormalizer_.came_out(status.here)) {
    std::swap(front_, work_);
    return {};
  }
  F.apply(context, front_.view(), work_.view());  // because the contents of W are invalid
  heddle::multiply<T>(context, -1, coupled, coefficients_, 1, work_.view());
  return orthonormalize(context);
}

/// The columns of [V V₊] to which U is coupled.
template <Scalar T, class Ctx>
auto KrylovBasis<T, Ctx>::coupled() const noexcept -> ConstBlock {
  return V_.columns(locked_ + projected_.first_coupled(), projected_.coupled() + block_);
}

/// V₊ ← an orthonormal basis of the part of span(W) orthogonal to V, completed by random columns.
template <Scalar T, class Ctx>
FrontStatus KrylovBasis<T, Ctx>::orthonormalize(Ctx& context) {
  const PhaseScope phase(context, Phase::orthogonalize);
  multiplied_ = false;
  const FrontStatus status =
      orthonormalizer_.orthonormalize(context, V_.columns(0, locked_ + order()), work_.view());
  if (!status.indefinite && status.finite) set_front(context);
  return status;
}

/// V₊ ← W.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::set_front(Ctx& context) {
  copy<T>(context, work_.view(), V_.columns(locked_ + order(), block_));
  std::swap(front_, work_);
}

template <Scalar T, class Ctx>
double KrylovBasis<T, Ctx>::estimate_norm(Ctx& context, LinearOperator<T, Ctx>& M) {
  const SmallView<double, Space> norms = norms_.view(block_, 2);
  const SmallView<double, HostSpace> host{numbers_.data(), block_, 2, block_};
  column_norms(context, front(), norms.block(0, 0, block_, 1));
  M.apply(context, front(), scratch());
  column_norms<T>(context, scratch(), norms.block(0, 1, block_, 1));
  fetch(context, norms, host);
  double largest = 0;
  for (Index j = 0; j < block_; ++j) largest = std::max(largest, host(j, 1) / host(j, 0));
  return largest;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::restart(Ctx& context, ConstSmallView<Wide<T>, HostSpace> Z,
                                  ConstSmallView<double, HostSpace> theta) {
  const PhaseScope phase(context, Phase::update);
  const SmallView<Wide<T>, Space> there = small_.view(Z.rows, Z.cols);
  send(context, Z, there);
  heddle::multiply<T>(context, 1, V(), there, 0, V_.columns(locked_, Z.cols));  // V ← V Z
  copy<T>(context, front_.view(), V_.columns(locked_ + Z.cols, block_));
  projected_.restart(Z, theta);
  send_column(context);
}

/// Sends the coefficients T₊ of the next U − V T₊ to the context, after S has changed.
template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::send_column(Ctx& context) {
  const SmallView<Wide<T>, Space> there = column_.view(order() + block_, block_);
  send(context, projected_.column(), there);
  coefficients_ = there;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::lock(Ctx& context, Index j) {
  projected_.drop_first(j);
  locked_ += j;
  send_column(context);
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::lock(Ctx& context, ConstBlock X) {
  assert(order() == 0);
  if (X.cols() == 0) return;
  copy<T>(context, X, V_.columns(locked_, X.cols()));
  locked_ += X.cols();
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::set_whole(Ctx& context, ConstBlock X,
                                    ConstSmallView<Wide<T>, HostSpace> whole) {
  clear();
  copy<T>(context, X, V_.columns(0, X.cols()));
  projected_.set_whole(whole);
  fetched_ = true;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::keep_locked(Ctx& context, std::span<const Index> order) {
  assert(this->order() == 0 && std::ssize(order) <= locked_);
  const Index kept = std::ssize(order);
  std::vector<Wide<T>> choice(static_cast<std::size_t>(locked_ * kept));
  const SmallView<Wide<T>, HostSpace> C{choice.data(), locked_, kept, locked_};
  for (Index j = 0; j < kept; ++j) C(order[static_cast<std::size_t>(j)], j) = 1;
  const SmallView<Wide<T>, Space> there = small_.view(locked_, kept);
  send(context, C, there);
  heddle::multiply<T>(context, 1, V_.columns(0, locked_), there, 0, V_.columns(0, kept));
  locked_ = kept;
}

template <Scalar T, class Ctx>
void KrylovBasis<T, Ctx>::archive(Ctx& context, Archive& archive) {
  orthonormalizer_.archive(archive);
  archive.values(locked_, multiplied_);
  projected_.archive(archive);
  if (!multiplied_) return;
  if (archive.loading()) {
    packet_.clear();
    packed_column_ = packet_.template add<Wide<T>>(projected_.coupled() + block_, block_);
  }
  const SmallView<Wide<T>, HostSpace> column = packed_column_.here;
  for (Index j = 0; j < column.cols; ++j) {
    for (Index i = 0; i < column.rows; ++i) archive.values(column(i, j));
  }
  if (!archive.loading()) return;
  send(context, column, packed_column_.there);
  coefficients_ = packed_column_.there;
  projected_.set_column(column);
  fetched_ = true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class KrylovBasis<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
