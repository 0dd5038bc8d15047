#pragma once

#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/lanczos/operator_choice.hpp>
#include <heddle/solvers/lanczos/verification.hpp>

namespace heddle::detail {

/// The dense solve of a small pencil without B⁻¹ in standard form, see `LanczosOperator`.
/// Everything is kept by reference.
template <Scalar T, class Ctx>
class DenseStandardForm {
 public:
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  DenseStandardForm(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const BlockLanczosOptions& options, Storage& storage,
                    OperatorChoice<T, Ctx>& choice, Verification<T, Ctx>& verification,
                    Engine<Ctx>& engine) noexcept
      : context_(context),
        problem_(problem),
        options_(options),
        s_(storage),
        choice_(choice),
        verification_(verification),
        engine_(engine) {}

  /// Sets the leading vectors of the result to the eigenvectors of the pencil with finite
  /// eigenvalues, the wanted ones first, or ends the solve. F is C at the beginning and the inverse
  /// afterwards.
  void solve();

  /// Whether each θ has a small relative error, so that the vectors need no Rayleigh–Ritz step.
  bool all_theta_exact() const;

 private:
  void orthonormalize(BlockView<T, typename Ctx::Space> X);
  std::span<const double> finite_values() const;
  PencilNorms norms();
  bool decompose();
  bool decompose_factored();
  double last_theta() const;

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Storage& s_;
  OperatorChoice<T, Ctx>& choice_;
  Verification<T, Ctx>& verification_;
  Engine<Ctx>& engine_;
};

}  // namespace heddle::detail
