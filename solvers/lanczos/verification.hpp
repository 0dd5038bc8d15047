#pragma once

#include <heddle/solvers/lanczos/workspace.hpp>
#include <optional>

namespace heddle::detail {

/// The vectors of the best pairs at hand, and what fresh products with A and B say about them. The
/// vectors and the measured numbers are left in the solve's result.
template <Scalar T, class Ctx>
class Verification {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference.
  Verification(Ctx& context, const EigenProblem<T, Ctx>& problem,
               const BlockLanczosOptions& options, Storage& storage) noexcept
      : context_(context), problem_(problem), options_(options), s_(storage) {}

  /// The result's vectors ← those of the best pairs: locked ones, and Ritz vectors beside them.
  void collect();

  /// A Rayleigh–Ritz step over the result's first `count` vectors. False where it failed.
  bool rayleigh_ritz(Index count);

  /// After that step: residuals and orthogonality of the result's wanted pairs. Whether all pass.
  bool measure(Index count);

  /// A Rayleigh–Ritz step over the leading Ritz vectors of the basis, a block of them. Costs a
  /// product with A. The numbers of the result are then lost.
  void rayleigh_ritz_of_leading();

  /// The Rayleigh quotient farthest from the wanted end in the last step; nothing if that failed.
  std::optional<double> farthest_value() const;

  /// Marks the numbers of the result as those of earlier Ritz pairs.
  void outdate() noexcept { measured_ = false; }

  /// Whether all pairs passed the last `measure`.
  bool passed() const noexcept { return passed_; }

  /// Whether the result holds numbers that were measured for the Ritz pairs at hand.
  bool measured() const noexcept { return measured_; }
  DenseFailure failure() const noexcept { return failure_; }  ///< of the last step

 private:
  DenseFailure step(Block V);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Storage& s_;
  DenseFailure failure_ = DenseFailure::none;
  bool measured_ = false;
  bool passed_ = false;
};

}  // namespace heddle::detail
