#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>

namespace heddle {
namespace {

/// The start and a step take three norms per column. A step also takes the status of two rounds,
/// SᵀBS and SᵀAS with S of `columns` columns.
template <Scalar T>
Index packet_capacity(Index block, Index columns) {
  constexpr Index kDoubles = static_cast<Index>(sizeof(Wide<T>) / sizeof(double));
  return 3 * block + 2 * CholeskyQrStatus::rows + 2 * kDoubles * columns * columns;
}

}  // namespace

template <Scalar T, class Ctx>
LobpcgWorkspace<T, Ctx>::Storage::Storage(Ctx& ctx, const detail::LobpcgShape& sizes)
    : context(&ctx),
      shape(sizes),
      blocks(ctx, sizes.rows.local, sizes.block, sizes.max_locked(), sizes.pencil),
      orthogonalizer(ctx, std::max({sizes.widest(), sizes.constraints, blocks.kSearchColumns}),
                     sizes.max_locked() + blocks.columns(sizes.block)),
      ritz(ctx, blocks.columns(sizes.block), sizes.widest()),
      verifier(ctx, sizes.rows.local, std::max(sizes.nev, sizes.widest()), sizes.pencil),
      pairs(sizes.nev, sizes.block),
      theta(ctx, sizes.widest(), 1),
      multipliers(ctx, sizes.constraints, blocks.columns(sizes.block)),
      scaled_constraints(ctx, sizes.constraints, blocks.kSearchWidth),
      row_scale(ctx, sizes.rows.local, 4),
      Z(ctx, sizes.rows.local, blocks.kSearchWidth),
      U(ctx, sizes.rows.local, blocks.kSearchWidth),
      V(ctx, sizes.rows.local, blocks.kSearchWidth),
      search_ritz(ctx, blocks.kSearchColumns),
      packet(ctx, packet_capacity<T>(sizes.widest(), blocks.columns(sizes.block))) {
  const auto pairs = static_cast<std::size_t>(sizes.nev + sizes.widest());
  for (std::vector<double>* list :
       {&monitor_values, &monitor_residuals, &other_values, &other_residuals, &other_couplings,
        &result.eigenvalues, &result.residuals, &result.error_bounds}) {
    list->reserve(pairs);
  }
  result.limited_by_rounding.reserve(pairs);
  for (std::vector<double>* list : {&wanted_values, &found_values}) {
    list->reserve(pairs + static_cast<std::size_t>(2 * sizes.widest()));
  }
  result.eigenvectors = MultiVector<T, Space>(ctx, sizes.rows.local, sizes.nev);
}

template <Scalar T, class Ctx>
void LobpcgWorkspace<T, Ctx>::Storage::reset() {
  ritz.reset();
  result.status = SolveStatus::breakdown;
  result.reason.clear();
  result.iterations = result.operator_applications = 0;
  result.eigenvalues.clear();
  result.residuals.clear();
  result.error_bounds.clear();
  result.limited_by_rounding.clear();
  result.completeness = {};
  result.orthogonality = 0;
  result.history.clear();
  result.orthogonalization = {};
}

template <Scalar T, class Ctx>
LobpcgWorkspace<T, Ctx>::LobpcgWorkspace() = default;

template <Scalar T, class Ctx>
LobpcgWorkspace<T, Ctx>::~LobpcgWorkspace() = default;

template <Scalar T, class Ctx>
LobpcgWorkspace<T, Ctx>::LobpcgWorkspace(LobpcgWorkspace&&) noexcept = default;

template <Scalar T, class Ctx>
LobpcgWorkspace<T, Ctx>& LobpcgWorkspace<T, Ctx>::operator=(LobpcgWorkspace&&) noexcept = default;

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgWorkspace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
