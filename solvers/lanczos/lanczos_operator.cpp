#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>

namespace heddle::detail {
template <Scalar T, class Ctx>
void PencilOperator<T, Ctx>::set(const EigenProblem<T, Ctx>& problem,
                                 BlockView<T, Space> AX) noexcept {
  A_ = problem.A;
  B_inverse_ = problem.B_inverse;
  AX_ = AX;
}

template <Scalar T, class Ctx>
void PencilOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  if (B_inverse_ == nullptr) return A_->apply(context, X, Y);
  const BlockView<T, Space> AX = AX_.columns(0, X.cols());
  A_->apply(context, X, AX);
  B_inverse_->apply(context, AX, Y);
}

template <Scalar T, class Ctx>
bool PencilOperator<T, Ctx>::accumulate_block(Ctx& context, double alpha,
                                              ConstBlockView<T, Space> X,
                                              const SpmmEpilogue<T, Space>& epilogue,
                                              BlockView<T, Space> Y) {
  return B_inverse_ == nullptr && A_->accumulate(context, alpha, X, epilogue, Y);
}

template <Scalar T, class Ctx>
LanczosOperator<T, Ctx>::LanczosOperator(Ctx& context, const RowRange& rows, Index block)
    : LinearOperator<T, Ctx>(rows, rows),
      C_(rows),
      block_(block),
      work_(context, rows.local, block) {}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_problem(const EigenProblem<T, Ctx>& problem,
                                          Which which) noexcept {
  C_.set(problem, work_.view());
  B_ = problem.B;
  divides_ = problem.B_inverse != nullptr;
  standard_form_ = has_standard_form(problem);
  inverse_ = nullptr;
  map_ = SpectralMap(which);
  norm_ = 0;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_filter(const ChebyshevFilter& filter) noexcept {
  map_.set_filter(filter);
  norm_ = 0;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::set_inverse(ShiftedInverse<T, Ctx>& inverse, double reach) noexcept {
  inverse_ = &inverse;
  map_.set_inverse(inverse.shift(), reach);
  norm_ = 0;
}

template <Scalar T, class Ctx>
double LanczosOperator<T, Ctx>::effort() const noexcept {
  const auto n = static_cast<double>(this->row_range().global);
  return map_.inverts() ? std::max(1.0, inverse_->factor_entries() / n) : map_.degree();
}

template <Scalar T, class Ctx>
bool LanczosOperator<T, Ctx>::stop_now() {
  stopped_ = stopped_ || (stop_ && stop_());
  return stopped_;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_block(Ctx& context, ConstBlock X, Block Y) {
  if (map_.inverts()) return apply_inverse(context, X, Y);
  if (map_.filters()) return apply_filter(context, X, Y);
  C_.apply(context, X, Y);
  if (divides_ && stop_now()) return;
  if (map_.sign() == 1) axpby<T>(context, 0, X, -1, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_inverse(Ctx& context, ConstBlock X, Block Y) {
  if (B_ == nullptr) return inverse_->apply(context, X, Y);
  if (standard_form_) return apply_standard_form(context, X, Y);
  const Block BX = work_.columns(0, X.cols());
  B_->apply(context, X, BX);
  inverse_->apply(context, BX, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_standard_form(Ctx& context, ConstBlock X, Block Y) {
  const Block Z = work_.columns(0, X.cols());
  inverse_->apply_upper(context, X, Z);  // Z = PᵀL⁻ᵀ X
  B_->apply(context, Z, Y);
  inverse_->apply_lower(context, Y, Y);  // Y = L⁻¹P B Z
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::to_eigenvectors(Ctx& context, Block V) {
  if (!standard_form_) return;
  for (Index first = 0; first < V.cols(); first += block_) {
    const Block X = V.columns(first, std::min(block_, V.cols() - first));
    inverse_->apply_upper(context, X, X);
  }
}

template <Scalar T, class Ctx>
auto LanczosOperator<T, Ctx>::to_standard_form(Ctx& context, ConstBlock X) -> ConstBlock {
  const Index count = std::min(block_, X.cols());
  const Block Y = work_.columns(0, count);
  B_->apply(context, X.columns(0, count), Y);
  inverse_->apply_lower(context, Y, Y);
  return Y;
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::apply_filter(Ctx& context, ConstBlock X, Block Y) {
  if (!recurrence_) recurrence_.emplace(context, this->rows(), block_);
  // The recurrence is in λ. The interval of y is an interval of λ if y = λ, and is mirrored if
  // y = −λ.
  const ChebyshevInterval& y = map_.filter()->interval;
  const int degree = map_.degree();
  const bool mirrored = map_.sign() == -1;
  recurrence_->start(context, C_, mirrored ? ChebyshevInterval{-y.upper, -y.lower} : y, X);
  for (int k = 2; k <= degree; ++k) {
    if (stop_now()) return;
    recurrence_->step(context);
  }
  if (divides_ && stop_now()) return;
  // T_d(−x) = (−1)^d T_d(x) turns T_d((λ − c)/e) into T_d((c − y)/e).
  const bool odd = degree % 2 != 0;
  axpby<T>(context, odd && !mirrored ? -1 : 1, recurrence_->term(), 0, Y);
}

template <Scalar T, class Ctx>
void LanczosOperator<T, Ctx>::archive(Ctx& context, Archive& archive,
                                      ShiftedInverse<T, Ctx>* inverse) {
  archive.values(map_, norm_);
  if (!archive.loading() || !map_.inverts()) return;
  if (inverse == nullptr || !inverse->factor(context, map_.sigma())) {
    throw Error("is of a matrix that could be factored");
  }
  inverse_ = inverse;
}

#define HEDDLE_INSTANTIATE(T, Ctx)       \
  template class PencilOperator<T, Ctx>; \
  template class LanczosOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
