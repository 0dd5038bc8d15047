#pragma once

#include <heddle/solvers/lobpcg/workspace.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>

namespace heddle::detail {

/// The columns of W: the directions of the columns first … first + active − 1 of X, then `fresh`
/// random ones.
struct DirectionColumns {
  Index first;
  Index active;
  Index fresh;
};

/// Makes the search directions W = T⁻¹R of a LOBPCG step from its residuals, and queues the rounds
/// of Gram–Schmidt that make them B-orthonormal and orthogonal to [Y X P]. Nothing waits.
/// Everything is kept by reference. `preconditioner`: null for T = I.
template <Scalar T, class Ctx>
class Directions {
 public:
  using Space = typename Ctx::Space;

  Directions(Ctx& context, const EigenProblem<T, Ctx>& problem,
             typename LobpcgWorkspace<T, Ctx>::Storage& storage,
             PreconditionerSchedule<T, Ctx>* preconditioner, std::uint64_t seed) noexcept
      : context_(context),
        problem_(problem),
        s_(storage),
        preconditioner_(preconditioner),
        seed_(seed) {}

  /// W ← [T⁻¹R_J V] with V random columns of the next of the `streams`.
  void fill(const DirectionColumns& columns, std::uint64_t& streams);

  /// Computes T⁻¹ in the next higher precision from now on. False if it is in full precision.
  bool raise_precision() { return preconditioner_ != nullptr && preconditioner_->raise(context_); }

  /// Queues the first round, with W from `columns`. `status` as of `gram_schmidt`.
  void first_round(const DirectionColumns& columns, std::uint64_t& streams,
                   SmallView<double, Space> status);

  /// Queues a further round on W.
  void next_round(SmallView<double, Space> status);

 private:
  bool are_residuals(const DirectionColumns& columns) const;
  void gram_schmidt(SmallView<double, Space> status);
  void finish_round();
  void multiply_by_B();

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  typename LobpcgWorkspace<T, Ctx>::Storage& s_;
  PreconditionerSchedule<T, Ctx>* preconditioner_;
  std::uint64_t seed_;
};

}  // namespace heddle::detail
