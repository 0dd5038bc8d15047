#pragma once

#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <vector>

namespace heddle {

using namespace detail;

/// y = (I − Q Qᵀ) A x for orthonormal Q m×k.
template <Scalar T, class Ctx>
class ProjectedOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// A and Q must outlive this operator.
  ProjectedOperator(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, Space> Q)
      : LinearOperator<T, Ctx>(A.rows(), A.cols()), A_(A), Q_(Q), QtY_(context, Q.cols(), 1) {}

 protected:
  /// Allocates when a block is wider than all before.
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    A_.apply(context, X, Y);
    if (Y.cols() > widest_) {
      widest_ = Y.cols();
      QtY_ = {context, Q_.cols(), widest_};
    }
    const SmallView<double, Space> QtY = QtY_.view(Q_.cols(), Y.cols());
    gram<T>(context, Q_, Y, QtY);             // Qᵀ A X   k×b
    multiply<T>(context, -1, Q_, QtY, 1, Y);  // Y − Q Qᵀ A X   m×b
  }

 private:
  LinearOperator<T, Ctx>& A_;
  ConstBlockView<T, Space> Q_;
  SmallMatrix<double, Space> QtY_;
  Index widest_ = 1;
};

/// What a search for vectors that Aᵀ annihilates is asked for.
struct NullVectorOptions {
  double limit = 0;  ///< ‖Aᵀu‖₂ of a unit vector up to which it counts as annihilated
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< the first of the random streams to draw from
};

/// Orthonormal vectors U (m×c, orthogonal to the columns of `known`) with ‖Aᵀu‖₂ ≤ limit, for
/// an m×n A.
///
/// Random vectors lose what they have in the range of A: u ← u − A A⁺u, the residual of a
/// least-squares problem. A random vector may be nearly all range, of which rounding would then
/// leave too much; so this is done to what remains of it, too, until the limit holds. Directions
/// of singular values up to the limit may stay.
template <Scalar T, class Ctx>
class NullVectors {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// The context, the operators, the monitor and the ending of the solve, which tells how much time
  /// there is, must outlive the search.
  NullVectors(Ctx& context, const AdjointPair<T, Ctx>& pair, const NullVectorOptions& options,
              const StopControl& ending, const Monitor& monitor)
      : context_(context), pair_(pair), options_(options), ending_(ending), monitor_(monitor) {}

  /// `converged` if U holds what was looked for, `interrupted` or `time_limit` if there was no
  /// time, `verification_failed` if Aᵀ does not annihilate that many vectors as far as can be seen,
  /// `breakdown` if products are not finite. The monitor sees block CG's iterations.
  SolveStatus find(ConstBlockView<T, Space> known, Block U, OrthoCounts& counts) {
    constexpr int kRounds = 4;
    Orthogonalizer<T, Ctx> orthogonalizer(context_, U.cols(), known.cols());
    std::uint64_t stream = options_.stream;
    fill_random(context_, options_.seed, stream++, U);
    for (int round = 0;; ++round) {
      const OrthonormalBlock made = make_orthonormal<T, Ctx>(
          context_, orthogonalizer, nullptr, {Basis<T, Space>{known, known}}, U, U, counts);
      if (!made.finite) return SolveStatus::breakdown;
      if (made.rank == U.cols() && annihilated(U)) return SolveStatus::converged;
      if (round == kRounds) return SolveStatus::verification_failed;
      if (made.rank < U.cols()) {
        fill_random(context_, options_.seed, stream++, U.columns(made.rank, U.cols() - made.rank));
      }
      const SolveStatus status = remove_range(U);
      if (status == SolveStatus::interrupted || status == SolveStatus::time_limit) return status;
    }
  }

 private:
  /// Whether ‖Aᵀu‖₂ is small enough for all columns.
  bool annihilated(ConstBlockView<T, Space> U) {
    const Index c = U.cols();
    MultiVector<T, Space> AtU(context_, pair_.A->cols(), c);
    SmallMatrix<double, Space> norms(context_, c, 1);
    std::vector<double> on_host(static_cast<std::size_t>(c));
    pair_.A_transposed->apply(context_, U, AtU.view());
    column_norms<T>(context_, AtU.view(), norms.view(c, 1));
    fetch(context_, norms.view(c, 1), SmallView<double, HostSpace>{on_host.data(), c, 1, c});
    return std::all_of(on_host.begin(), on_host.end(),
                       [&](double norm) { return norm <= options_.limit; });
  }

  /// U ← U − A A⁺U, the statuses of least squares.
  SolveStatus remove_range(Block U) {
    constexpr double kMargin = 0.1;
    LeastSquaresProblem<T, Ctx> problem;
    problem.A = pair_;
    problem.B = U;
    BlockCgOptions options;
    // A space shared by all columns meets the null space of AᵀA, where no direction has energy.
    options.algorithm = CgAlgorithm::pseudo_block;
    options.criterion = LinearCriterion::absolute;
    options.tolerance = kMargin * options_.limit;
    options.time_limit_s = std::max(0.0, ending_.seconds_left());
    const auto result = least_squares(context_, problem, options, monitor_);
    MultiVector<T, Space> AX(context_, U.rows(), U.cols());
    pair_.A->apply(context_, result.solution.view(), AX.view());
    axpby<T>(context_, -1, AX.view(), 1, U);
    return result.status;
  }

  Ctx& context_;
  AdjointPair<T, Ctx> pair_;
  NullVectorOptions options_;
  const StopControl& ending_;
  const Monitor& monitor_;
};

}  // namespace heddle
