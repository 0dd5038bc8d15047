#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>
#include <heddle/solvers/preconditioners/padded_width.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <limits>
#include <memory>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// The levels of A, made in double precision.
template <Scalar U, class Ctx, class Space = typename Ctx::Space>
Hierarchy<Space> hierarchy_of(Ctx& context, DistributedCsrView<U, Space> A,
                              const MultigridOptions& options) {
  const double roundoff = std::numeric_limits<U>::epsilon();
  if constexpr (std::same_as<U, double>) {
    return make_hierarchy(context, A, options, roundoff);
  } else {
    return make_hierarchy(context, convert<double>(context, A).view(), options, roundoff);
  }
}

/// The rows, entries and aggregates of a level on all processes that share it.
template <class Ctx, class Space = typename Ctx::Space>
OperatorLevel size_of(Ctx& context, const HierarchyLevel<Space>& level) {
  const bool shared = level.A.is_distributed();
  const auto of_all = [&](Index count) { return shared ? total_rows(context, count) : count; };
  return {of_all(level.A.rows()), of_all(local_entries(level.A.view())), of_all(level.aggregates),
          level.seconds};
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
MultigridPreconditioner<T, Ctx>::MultigridPreconditioner(Ctx& context,
                                                         DistributedCsrView<T, Space> A,
                                                         const MultigridOptions& options,
                                                         const SpmmOptions& spmm)
    : MultigridPreconditioner(context, detail::hierarchy_of<T>(context, A, options), options,
                              spmm) {}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
MultigridPreconditioner<T, Ctx>::MultigridPreconditioner(
    Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A,
    const MultigridOptions& options, const SpmmOptions& spmm)
    : MultigridPreconditioner(context, detail::hierarchy_of<U>(context, A, options), options,
                              spmm) {}

template <Scalar T, class Ctx>
MultigridPreconditioner<T, Ctx>::MultigridPreconditioner(Ctx& context,
                                                         detail::Hierarchy<Space> hierarchy,
                                                         const MultigridOptions& options,
                                                         const SpmmOptions& spmm)
    : Preconditioner<T, Ctx>(row_range(hierarchy.levels.front().A.view()),
                             row_range(hierarchy.levels.front().A.view())) {
  const auto rounded = [&](auto& A) { return detail::rounded<T>(context, std::move(A)); };
  scaling_ = detail::rounded<T>(context, std::move(hierarchy.scaling));
  shared_ = hierarchy.levels.front().A.is_distributed();
  for (detail::HierarchyLevel<Space>& made : hierarchy.levels) {
    sizes_.push_back(detail::size_of(context, made));
    const bool coarsest = &made == &hierarchy.levels.back();
    auto level = std::make_unique<Level>(context, rounded(made.A), spmm);
    for (const double a : detail::smoothing_polynomial(options.degree, made.upper_bound)) {
      level->polynomial.push_back(static_cast<T>(a));
    }
    if constexpr (std::same_as<T, float>) {
      const bool products = options.smoothing != ProductPrecision::single_precision;
      if (products && level->polynomial.size() > 1) {
        level->narrow = detail::make_narrow_smoother<Ctx>(
            context, options.smoothing, level->product.matrix.view().whole(), level->polynomial);
      }
    }
    if (!coarsest) {
      level->prolong.emplace(context, rounded(made.P), spmm);
      level->restrict.emplace(context, rounded(made.Pt), spmm);
    }
    if (made.gather) level->gather.emplace(context, rounded(*made.gather), spmm);
    levels_.push_back(std::move(level));
  }
  if (hierarchy.coarse_inverse.rows() > 0) {
    inverse_.emplace(context, rounded(hierarchy.coarse_inverse), spmm);
  }
}

/// Memory for b columns on the level `first` and all coarser ones.
template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::reserve(Ctx& context, Index first, Index b) {
  const Index width = detail::padded_width<T, Space>(b);
  for (Index l = first; l < count(); ++l) {
    Level& level = at(l);
    if (level.width >= width) continue;
    level.width = 0;  // so that a call after `OutOfMemory` begins anew
    for (MultiVector<T, Space>* block :
         {&level.right, &level.solution, &level.residual, &level.work}) {
      *block = MultiVector<T, Space>();
      if (block == &level.work && level.polynomial.size() < 4) continue;
      *block = MultiVector<T, Space>(context, order(l), width);
      if (width > b) set_zero(context, block->view());  // columns beyond b are multiplied, too
    }
    if (level.gather) {
      level.part = MultiVector<T, Space>();
      level.part = MultiVector<T, Space>(context, level.restrict->matrix.rows(), width);
    }
    if (level.narrow != nullptr) level.narrow->reserve(context, width);
    level.width = width;
  }
}

/// x = β x + p(A) r by Horner's rule, with one product fewer than p has coefficients. `spare` are
/// two blocks that neither x nor r uses.
template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::smooth(Ctx& context, const Level& level,
                                             ConstBlockView<T, Space> r, T beta,
                                             BlockView<T, Space> x,
                                             const std::array<BlockView<T, Space>, 2>& spare) {
  if constexpr (std::same_as<T, float>) {
    if (level.narrow != nullptr) return level.narrow->smooth(context, r, beta, x);
  }
  const std::vector<T>& a = level.polynomial;
  if (a.size() == 1) return axpby<T>(context, a[0], r, beta, x);
  ConstBlockView<T, Space> y = r;
  for (std::size_t k = a.size() - 1; k-- > 0;) {  // y ← A y + a_k r, at first from y = a_{k+1} r
    const bool first = k + 2 == a.size();
    const BlockView<T, Space> next = k == 0 ? x : spare[(k + 1) % 2];
    level.product.plan.multiply(context, first ? a.back() : T{1}, y,
                                {.beta = k == 0 ? beta : T{0},
                                 .gamma = first ? a[k] : T{0},
                                 .delta = first ? T{0} : a[k],
                                 .X = r},
                                next);
    y = next;
  }
}

/// right = Pᵀ residual of the next coarser level.
template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::restrict_to(Ctx& context, Level& level,
                                                  ConstBlockView<T, Space> residual,
                                                  BlockView<T, Space> right) {
  if (!level.gather) return level.restrict->plan.multiply(context, 1, residual, 0, right);
  const BlockView<T, Space> part = level.part.columns(0, residual.cols());
  level.restrict->plan.multiply(context, 1, residual, 0, part);
  level.gather->plan.multiply(context, 1, part, 0, right);
}

/// Solves approximately for `right` of the level. The result is in `solution`.
template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::solve(Ctx& context, std::size_t l, Index width) {
  Level& level = *levels_[l];
  const auto first_columns = [width](MultiVector<T, Space>& block) {
    return block.cols() > 0 ? block.columns(0, width) : BlockView<T, Space>();
  };
  const BlockView<T, Space> r = first_columns(level.right);
  const BlockView<T, Space> x = first_columns(level.solution);
  const BlockView<T, Space> residual = first_columns(level.residual);
  const BlockView<T, Space> work = first_columns(level.work);
  const bool coarsest = l + 1 == levels_.size();
  if (coarsest && inverse_) return inverse_->plan.multiply(context, 1, r, 0, x);
  smooth(context, level, r, 0, x, {residual, work});
  level.product.plan.multiply(context, -1, x, {.delta = 1, .X = r}, residual);
  if (!coarsest) {
    Level& coarser = *levels_[l + 1];
    restrict_to(context, level, residual, first_columns(coarser.right));
    solve(context, l + 1, width);
    level.prolong->plan.multiply(context, 1, first_columns(coarser.solution), 1, x);
    level.product.plan.multiply(context, -1, x, {.delta = 1, .X = r}, residual);
  }
  smooth(context, level, residual, 1, x, {r, work});
}

template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::cycle(Ctx& context, Index l, ConstBlockView<T, Space> X,
                                            BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, l, b);
  Level& level = at(l);
  copy(context, X, level.right.columns(0, b));
  solve(context, static_cast<std::size_t>(l), detail::padded_width<T, Space>(b));
  copy(context, level.solution.columns(0, b), Y);
}

template <Scalar T, class Ctx>
void MultigridPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                  BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  const Index width = detail::padded_width<T, Space>(b);
  reserve(context, 0, b);
  Level& finest = *levels_.front();
  scale_rows<T>(context, scaling(), X, finest.right.columns(0, b));
  solve(context, 0, width);
  scale_rows<T>(context, scaling(), finest.solution.columns(0, b), Y);
}

template <Scalar T, class Ctx>
auto MultigridPreconditioner<T, Ctx>::scaled_product(Ctx& context, ConstBlockView<double, Space> X,
                                                     ConstSmallView<double, Space> scales)
    -> std::optional<ScaledView<T, Space>> {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  const Index width = detail::padded_width<T, Space>(b);
  reserve(context, 0, b);
  Level& finest = *levels_.front();
  convert<T, double, T>(context, scaling(), X, scales.block(0, 0, b, 1),
                        finest.right.columns(0, b));
  solve(context, 0, width);
  return ScaledView<T, Space>{finest.solution.columns(0, b), scaling(), scales.block(0, 1, b, 1)};
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class MultigridPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                          \
  template MultigridPreconditioner<float, Ctx>::MultigridPreconditioner( \
      Ctx&, DistributedCsrView<double, Ctx::Space>, const MultigridOptions&, const SpmmOptions&);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
