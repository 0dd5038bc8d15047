
#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/lobpcg/nested_start.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <heddle/solvers/operators/grid_levels.hpp>
#include <heddle/solvers/preconditioners/ones.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// The coarsest level in use has at least this many rows per column.
constexpr Index kRowsPerColumn = 20;

/// LOBPCG steps on the level that begins with random vectors, and on each finer one.
constexpr Index kStepsFromRandom = 4;
constexpr Index kStepsOfLevel = 2;

/// The entries of X from which steps on coarse levels cost less than they save. On an H200, they
/// take some 10 ms: they saved nothing with 10⁷ entries, and a tenth with 3·10⁷.
template <class Ctx>
constexpr Index kWorthLevels = std::same_as<Ctx, HostContext> ? 0 : 15'000'000;

/// The largest tolerance of a solve that begins on coarse levels. With a looser one, the few steps
/// that it takes do not bring out pairs that the coarse levels lack: of 10 solves with 1e-5, up to
/// 7 missed one that the random start found.
constexpr double kLoosest = 1e-7;

/// The norm of the random part of a start vector from coarse levels, relative to the rest. With .02
/// to .3, the iterations on meshes differed by one at most. With .05, pairs that coarse levels lack
/// were missed at a tolerance of 1e-4, with .2 they were not.
constexpr double kRandomPart = 0.2;

/// A tolerance that no pair meets on a level.
constexpr double kNothingConverges = 1e-30;

/// One of the products of `GridLevels` on level l: with A_l, or a cycle.
template <Scalar T, class Ctx>
class LevelProduct final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Product = void (GridLevels<T, Ctx>::*)(Ctx&, Index, ConstBlockView<T, Space>,
                                               BlockView<T, Space>);

  LevelProduct(GridLevels<T, Ctx>& levels, Index l, Product product)
      : Preconditioner<T, Ctx>(levels.order(l), levels.order(l)),
        levels_(levels),
        level_(l),
        product_(product) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    (levels_.*product_)(context, level_, X, Y);
  }

 private:
  GridLevels<T, Ctx>& levels_;
  Index level_;
  Product product_;
};

/// Y = M_l X with a diagonal M_l, n_l×1.
template <Scalar T, class Ctx>
class LevelMass final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  explicit LevelMass(ConstBlockView<T, Space> diagonal)
      : LinearOperator<T, Ctx>(diagonal.rows(), diagonal.rows()), diagonal_(diagonal) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    scale_rows<T>(context, diagonal_, X, Y);
  }

 private:
  ConstBlockView<T, Space> diagonal_;
};

/// The coarsest level with enough rows for `columns`. 0 if only the finest one has.
template <Scalar T, class Ctx>
Index coarsest_level(const GridLevels<T, Ctx>& levels, Index columns) {
  Index l = 0;
  while (l + 1 < levels.count() && levels.order(l + 1) >= kRowsPerColumn * columns) ++l;
  return l;
}

/// x times a power of two that brings its norm near 1, rounded to T (n×1).
template <RealScalar T, class Ctx, Scalar U, class Space = typename Ctx::Space>
MultiVector<T, Space> near_one(Ctx& context, ConstBlockView<U, Space> x) {
  SmallMatrix<double, Space> scales(context, 1, 2);
  norm_scales<U>(context, x, scales.view(1, 2));
  MultiVector<T, Space> scaled(context, x.rows(), 1);
  convert<T, U>(context, x, scales.view(1, 2).block(0, 0, 1, 1), scaled.view());
  return scaled;
}

/// The diagonal of M_0 = S diag(B) S, n×1, times a number that keeps it in the range of T.
template <RealScalar T, class Ctx, Scalar U>
MultiVector<T, typename Ctx::Space> scaled_mass(Ctx& context, const GridLevels<T, Ctx>& levels,
                                                const LinearOperator<U, Ctx>* B) {
  using Space = typename Ctx::Space;
  const Index n = levels.order(0);
  MultiVector<T, Space> mass = near_one<T>(context, levels.scaling());
  scale_rows<T>(context, mass.view(), mass.view(), mass.view());
  if (B == nullptr) return mass;
  const Buffer<U, Space> diagonal = extract_diagonal<U>(context, B->stored()->whole());
  const ConstBlockView<U, Space> entries(diagonal.data(), n, 1, 1);
  scale_rows<T>(context, near_one<T>(context, entries).view(), mass.view(), mass.view());
  return mass;
}

/// The diagonals of M_0 … M_coarsest.
template <RealScalar T, class Ctx, Scalar U>
std::vector<MultiVector<T, typename Ctx::Space>> level_masses(Ctx& context,
                                                              const GridLevels<T, Ctx>& levels,
                                                              const LinearOperator<U, Ctx>* B,
                                                              Index coarsest) {
  std::vector<MultiVector<T, typename Ctx::Space>> masses;
  masses.push_back(scaled_mass(context, levels, B));
  for (Index l = 0; l < coarsest; ++l) {
    MultiVector<T, typename Ctx::Space> coarser(context, levels.order(l + 1), 1);
    weighted_row_squares<T>(context, levels.restriction(l), masses.back().view(), coarser.view());
    masses.push_back(std::move(coarser));
  }
  return masses;
}

/// X ← the Ritz vectors after some LOBPCG steps on level l, from the columns of X, or from
/// `columns` random ones where X is empty. False if the numbers break down.
template <RealScalar T, class Ctx, class Space = typename Ctx::Space>
bool refine(Ctx& context, GridLevels<T, Ctx>& levels, Index l, ConstBlockView<T, Space> mass,
            Index columns, std::uint64_t seed, MultiVector<T, Space>& X) {
  LevelProduct<T, Ctx> A(levels, l, &GridLevels<T, Ctx>::multiply);
  LevelMass<T, Ctx> M(mass);
  LevelProduct<T, Ctx> cycle(levels, l, &GridLevels<T, Ctx>::cycle);
  const bool first = X.cols() == 0;
  const EigenProblem<T, Ctx> problem{.A = &A,
                                     .B = &M,
                                     .preconditioner = &cycle,
                                     .initial_guess = X.view(),
                                     .guess_from_random = true};
  LobpcgOptions options{};
  options.nev = 1;  // the steps depend on the block alone
  options.criterion = Criterion::norm;
  options.tolerance = kNothingConverges;
  options.seed = seed;
  typename LobpcgWorkspace<T, Ctx>::Storage storage(
      context, LobpcgShape{A.row_range(), options.nev, columns, 0, true});
  const Monitor none;
  LobpcgSolve<T, Ctx> solve(context, problem, options, none, storage);
  if (!solve.refine(first ? kStepsFromRandom : kStepsOfLevel)) return false;
  const BlockView<T, Space> found = storage.blocks.S().X;
  if (found.cols() < columns) return false;
  if (first) X = MultiVector<T, Space>(context, A.rows(), columns);
  copy<T>(context, found, X.view());
  return true;
}

/// `nested_start` with levels in precision T for X in precision U.
template <RealScalar T, class Ctx, Scalar U>
bool start_on(Ctx& context, GridLevels<T, Ctx>* levels, const LinearOperator<U, Ctx>* B,
              std::uint64_t seed, BlockView<U, typename Ctx::Space> X) {
  using Space = typename Ctx::Space;
  if (levels == nullptr) return false;
  const Index b = X.cols();
  const Index coarsest = coarsest_level(*levels, b);
  if (coarsest == 0) return false;
  const std::vector<MultiVector<T, Space>> masses = level_masses(context, *levels, B, coarsest);
  MultiVector<T, Space> Z;
  for (Index l = coarsest; l > 0; --l) {
    if (l < coarsest) {
      MultiVector<T, Space> finer(context, levels->order(l), b);
      levels->prolong(context, l, Z.view(), finer.view());
      Z = std::move(finer);
    }
    const auto& mass = masses[static_cast<std::size_t>(l)];
    if (!refine<T>(context, *levels, l, mass.view(), b, seed, Z)) return false;
  }
  const BlockView<T, Space> finest = levels->spare(context, 0, b);
  levels->prolong(context, 0, Z.view(), finest);
  if constexpr (std::same_as<T, U>) {
    scale_rows<T>(context, levels->scaling(), finest, X);
  } else {
    const Buffer<double, Space> factors = ones<double>(context, b);
    convert<U, T, T>(context, levels->scaling(), finest, {factors.data(), b, 1, b}, X);
  }
  return true;
}

/// Whether X, with this number of entries, shall begin on coarse levels. These know no constraints,
/// so that a part of what they give may be lost.
template <class Ctx>
bool wanted(const LobpcgOptions& options, bool constrained, Index entries) {
  if (options.which == Which::largest || options.start == StartVectors::random) return false;
  if (options.tolerance > kLoosest) return false;
  return options.start == StartVectors::nested || (!constrained && entries >= kWorthLevels<Ctx>);
}

/// X ← N + X with the columns of X scaled to `kRandomPart` times the norms of those of N. False,
/// with X scaled, if a norm is 0 or not finite.
template <RealScalar T, class Ctx, class Space = typename Ctx::Space>
bool add_random_part(Ctx& context, ConstBlockView<T, Space> N, BlockView<T, Space> X,
                     Packet<Ctx>& packet) {
  const Index b = X.cols();
  packet.clear();
  const auto of_X = packet.add(b, 1), of_N = packet.add(b, 1);
  column_norms<T>(context, X, of_X.there);
  column_norms<T>(context, N, of_N.there);
  packet.fetch(context);
  std::vector<double> factors;
  for (Index j = 0; j < b; ++j) {
    factors.push_back(kRandomPart * of_N.here(j, 0) / of_X.here(j, 0));
    if (!(factors.back() > 0) || !std::isfinite(factors.back())) return false;
  }
  SmallMatrix<double, Space> there(context, b, 1);
  send(context, ConstSmallView<double, HostSpace>{factors.data(), b, 1, b}, there.view(b, 1));
  scale_columns<T>(context, there.view(b, 1), X);
  axpby<T>(context, 1, N, 1, X);
  return true;
}

}  // namespace

template <Scalar T, class Ctx>
bool nested_start(Ctx& context, const EigenProblem<T, Ctx>& problem,
                  const PreconditionerSchedule<T, Ctx>& preconditioner,
                  const LobpcgOptions& options, BlockView<T, typename Ctx::Space> X) {
  if constexpr (!RealScalar<T>) {
    return false;
  } else {
    if (!wanted<Ctx>(options, problem.constraints.cols() > 0, X.rows() * X.cols())) return false;
    if (problem.B != nullptr && problem.B->stored() == nullptr) return false;
    const PreconditionerStage<T, Ctx>& stage = preconditioner.current();
    if constexpr (std::same_as<T, double>) {
      if (stage.is_lowered()) {
        return start_on(context, stage.lowered_grids(), problem.B, options.seed, X);
      }
    }
    return start_on(context, stage.grids(), problem.B, options.seed, X);
  }
}

namespace {

/// `nested_start`. False, too, where its memory is not there.
template <RealScalar T, class Ctx>
bool made_on_levels(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const PreconditionerSchedule<T, Ctx>& preconditioner,
                    const LobpcgOptions& options, BlockView<T, typename Ctx::Space> N) {
  try {
    return nested_start(context, problem, preconditioner, options, N);
  } catch (const OutOfMemory&) {
    return false;
  }
}

}  // namespace

template <Scalar T, class Ctx>
std::uint64_t begin_on_levels(Ctx& context, const EigenProblem<T, Ctx>& problem,
                              const PreconditionerSchedule<T, Ctx>& preconditioner,
                              const LobpcgOptions& options, std::uint64_t stream,
                              typename LobpcgWorkspace<T, Ctx>::Storage& storage) {
  if constexpr (RealScalar<T>) {
    LobpcgBlocks<T, Ctx>& blocks = storage.blocks;
    const Index b = blocks.x(), room = storage.shape.n() - blocks.locked();
    blocks.restart(std::max(b, std::min(widest_start(b), room / 4)));
    const auto X = blocks.S().X, N = blocks.AS().X;
    const bool made = made_on_levels(context, problem, preconditioner, options, N);
    if (made) {
      fill_random(context, options.seed, stream, X, storage.shape.rows.first);
      if (add_random_part(context, N, X, storage.packet)) return 1;
    }
    blocks.restart(b);
    if (made) fill_random(context, options.seed, stream, blocks.S().X, storage.shape.rows.first);
    return made ? 1 : 0;
  }
  return 0;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                        \
  template bool nested_start(Ctx&, const EigenProblem<T, Ctx>&,                           \
                             const PreconditionerSchedule<T, Ctx>&, const LobpcgOptions&, \
                             BlockView<T, Ctx::Space>);                                   \
  template std::uint64_t begin_on_levels(                                                 \
      Ctx&, const EigenProblem<T, Ctx>&, const PreconditionerSchedule<T, Ctx>&,           \
      const LobpcgOptions&, std::uint64_t, LobpcgWorkspace<T, Ctx>::Storage&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
