#pragma once

#include <heddle/linalg/data/row_range.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/lobpcg/blocks.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/lobpcg/pairs.hpp>
#include <heddle/solvers/lobpcg/rayleigh_ritz.hpp>
#include <heddle/solvers/lobpcg/scaled_constraints.hpp>
#include <heddle/solvers/lobpcg/span_ritz.hpp>
#include <heddle/solvers/preconditioners/adaptive/cg_coefficients.hpp>
#include <vector>

namespace heddle::detail {

/// The numbers that determine the sizes of all memory of a LOBPCG solve.
struct LobpcgShape {
  RowRange rows;  ///< of X
  Index nev = 0;
  Index block = 0;
  Index constraints = 0;
  bool pencil = false;

  /// Order of the problem.
  Index n() const noexcept { return rows.global; }

  /// Columns of the widest X.
  Index widest() const noexcept { return widest_start(block); }

  /// Columns of Y: the constraints and the locked pairs, which may exceed nev by at most one block.
  Index max_locked() const noexcept { return constraints + nev + block; }

  bool operator==(const LobpcgShape&) const = default;
};

}  // namespace heddle::detail

namespace heddle {

/// The memory behind `LobpcgWorkspace`, for one shape on one context.
template <Scalar T, class Ctx>
struct LobpcgWorkspace<T, Ctx>::Storage {
  Storage(Ctx& ctx, const detail::LobpcgShape& sizes);

  /// Removes the data of the last solve. Keeps all memory.
  void reset();

  /// Whether X and Y span the whole space.
  bool spans_space() const { return blocks.locked() + blocks.x() == shape.n(); }

  Ctx* context;
  detail::LobpcgShape shape;
  detail::LobpcgBlocks<T, Ctx> blocks;
  Orthogonalizer<T, Ctx> orthogonalizer;
  detail::RayleighRitz<T, Ctx> ritz;
  detail::EigenVerifier<T, Ctx> verifier;
  detail::LobpcgPairs pairs;
  SmallMatrix<double, Space> theta;         // of X, for R = AX − BX Θ
  SmallMatrix<Wide<T>, Space> multipliers;  // of the constraints, see ConstrainedOperator
  detail::ScaledConstraints<T, Ctx> scaled_constraints;  // of the search for missed pairs
  MultiVector<T, Space> row_scale;  // D^¼, D⁻¹ of the search, D_S^¼ and D_S⁻¹          n×4
  MultiVector<T, Space> Z, U, V;    // W while it is smoothed, a step, a product       n×2
  detail::SpanRitz<T, Ctx> search_ritz;   // of the soft motions that a search finds
  detail::CgCoefficients search_steps;    // of CG in a search
  Packet<Ctx> packet;                     // results of a step on their way to the host
  std::vector<double> other_values;       // Ritz values other than those that are verified
  std::vector<double> other_residuals;    // their residuals in the norm of B⁻¹
  std::vector<double> other_couplings;    // and parts of these along the verified vectors
  std::vector<double> monitor_values;     // Ritz values passed to the monitor
  std::vector<double> wanted_values;      // before a search for missed pairs
  std::vector<double> found_values;       // and after it
  std::vector<double> monitor_residuals;  // scaled residuals passed to the monitor
  EigenResult<T, Space> result;
};

}  // namespace heddle
