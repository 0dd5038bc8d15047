#pragma once

#include <heddle/solvers/lobpcg/pairs.hpp>
#include <heddle/solvers/lobpcg/rayleigh_ritz.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>

namespace heddle::detail {

/// The residuals R = A X − B X Θ of a LOBPCG step, and their norms on the way to the host: the
/// first parts of the step's packet.
template <Scalar T, class Ctx>
class StepResiduals {
 public:
  using Space = typename Ctx::Space;
  using Part = typename Packet<Ctx>::Part;

  explicit StepResiduals(typename LobpcgWorkspace<T, Ctx>::Storage& storage) noexcept
      : s_(storage) {}

  /// Queues R and the norms, and begins a new packet with them.
  void queue(Ctx& context) {
    const PhaseScope phase(context, Phase::residual);
    LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
    const Index x = blocks.x();
    const SmallView<double, Space> theta = s_.theta.view(x, 1);
    send(context, {s_.ritz.theta().data(), x, 1, x}, theta);
    s_.packet.clear();
    norms_ = s_.packet.add(x, 1);
    residual(context, blocks.AS().X, blocks.BS().X, theta, blocks.R(), norms_.there);
    if (!blocks.pencil()) return;
    x_norms_ = s_.packet.add(x, 1);
    column_norms(context, blocks.S().X, x_norms_.there);
    dual_norms_ = s_.packet.add(x, 1);
    s_.verifier.norms().measure_residuals(context, blocks.R(), dual_norms_.there);
  }

  /// ‖r_j‖/‖x_j‖, and ‖r_j‖ in the norm of B⁻¹. The packet must have been fetched.
  void list(const LobpcgPairs::Numbers& numbers) const {
    const ErrorNorms<T, Ctx>& errors = s_.verifier.norms();
    const bool pencil = s_.blocks.pencil();
    for (Index j = 0; j < s_.blocks.x(); ++j) {
      const auto column = static_cast<std::size_t>(j);
      const double norm = norms_.here(j, 0);
      numbers.residuals[column] = pencil ? norm / x_norms_.here(j, 0) : norm;
      numbers.dual_residuals[column] =
          pencil ? errors.dual_norm(dual_norms_.here(j, 0), norm) : norm;
    }
  }

 private:
  typename LobpcgWorkspace<T, Ctx>::Storage& s_;
  Part norms_{};       // ‖r_j‖
  Part x_norms_{};     // ‖x_j‖, if B ≠ I
  Part dual_norms_{};  // from which ErrorNorms derives ‖r_j‖ in the norm of B⁻¹, if B ≠ I
};

}  // namespace heddle::detail
