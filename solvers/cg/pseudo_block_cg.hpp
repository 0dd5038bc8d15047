#pragma once

#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/cg/workspace.hpp>

namespace heddle::detail {

/// One solve by CG on each column separately, with products for all columns at once. The loop in
/// `run` consists of the steps declared here.
///
/// An iteration normally copies two packets to the host, for α and for β. The first also contains
/// ‖p_j‖, which are computed with the update of P. Therefore Rayleigh quotients need no further
/// pass over P.
template <Scalar T, class Ctx>
class PseudoBlockCg {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockCgWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  PseudoBlockCg(Ctx& context, LinearColumns<T, Ctx>& columns, Storage& storage);

  void run();

 private:
  using Part = typename Packet<Ctx>::Part;

  void restart();
  void step();
  void next_directions();
  void directions();

  Block P() { return directions_.P.columns(0, columns_.active()); }
  Part expect_lengths();
  void check_energies(ConstSmallView<double, HostSpace> energies);
  void subtract(ConstBlockView<T, Space> U, ConstBlockView<T, Space> V, Block W,
                SmallView<double, Space> norms);

  Ctx& context_;
  LinearColumns<T, Ctx>& columns_;
  Storage& s_;
  SearchDirections<T, Space>& directions_;
  Part norms_{};     // ‖r_j‖
  Part lengths_{};   // ‖p_j‖
  Part energies_{};  // p_jᵀAp_j of the last step
};

}  // namespace heddle::detail
