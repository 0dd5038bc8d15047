#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/directions.hpp>

namespace heddle::detail {
namespace {

/// The ratio of residuals to the noise floor from which rounding leaves little of [X P] in them,
/// where they are directions themselves. ‖[X P]ᵀR‖ ≈ ε‖A‖, so that ‖SᵀS − I‖_F was 10⁻⁷ at this
/// ratio without a projection (7-point Laplacians).
constexpr double kFarFromRounding = 1e5;

}  // namespace

template <Scalar T, class Ctx>
void Directions<T, Ctx>::fill(const DirectionColumns& columns, std::uint64_t& streams) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  const Index active = columns.active;
  blocks.set_w(active + columns.fresh);
  const ConstBlockView<T, Space> R_J = blocks.R().columns(columns.first, active);
  const BlockView<T, Space> W = blocks.S().W.columns(0, active);
  if (preconditioner_ != nullptr) {
    preconditioner_->apply(context_, R_J, W);
  } else {
    copy(context_, R_J, W);
  }
  if (columns.fresh == 0) return;
  fill_random(context_, seed_, streams++, blocks.S().W.columns(active, columns.fresh),
              s_.shape.rows.first);
}

template <Scalar T, class Ctx>
void Directions<T, Ctx>::first_round(const DirectionColumns& columns, std::uint64_t& streams,
                                     SmallView<double, Space> status) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  if (are_residuals(columns)) {
    blocks.set_w(columns.active);
    const ConstBlockView<T, Space> R_J = blocks.R().columns(columns.first, columns.active);
    s_.orthogonalizer.cholesky_qr(context_, R_J, R_J, blocks.S().W, status);
  } else {
    fill(columns, streams);
    multiply_by_B();
    gram_schmidt(status);
  }
  finish_round();
}

template <Scalar T, class Ctx>
void Directions<T, Ctx>::next_round(SmallView<double, Space> status) {
  gram_schmidt(status);
  finish_round();
}

/// Whether W = R_J is orthogonal to X and P to rounding, and Y is empty. By the Rayleigh–Ritz
/// step XᵀR = XᵀAX − Θ = 0 and PᵀR = PᵀAX − PᵀXΘ = 0 if B = I, and T = I keeps that. Locked pairs
/// belong to earlier steps: yᵀR has the size of their residuals.
template <Scalar T, class Ctx>
bool Directions<T, Ctx>::are_residuals(const DirectionColumns& columns) const {
  return problem_.B == nullptr && preconditioner_ == nullptr && s_.blocks.locked() == 0 &&
         columns.fresh == 0 &&
         s_.pairs.least_residual(s_.ritz.values(), columns.first) >=
             kFarFromRounding * s_.pairs.convergence().noise_floor();
}

template <Scalar T, class Ctx>
void Directions<T, Ctx>::gram_schmidt(SmallView<double, Space> status) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  s_.orthogonalizer.gram_schmidt(context_, {blocks.locked_basis(), blocks.XP_basis()}, blocks.S().W,
                                 blocks.BS().W, status);
}

/// Subtracts parts along Y from the normalised W, because the rounding errors of a round grow with
/// the condition of W. The Rayleigh–Ritz step corrects what is left outside X and P, but not these.
template <Scalar T, class Ctx>
void Directions<T, Ctx>::finish_round() {
  s_.orthogonalizer.subtract(context_, s_.blocks.locked_basis(), s_.blocks.S().W);
  multiply_by_B();
}

template <Scalar T, class Ctx>
void Directions<T, Ctx>::multiply_by_B() {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  if (problem_.B != nullptr) problem_.B->apply(context_, blocks.S().W, blocks.BS().W);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class Directions<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
