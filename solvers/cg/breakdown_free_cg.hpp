#pragma once

#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/cg/workspace.hpp>

namespace heddle::detail {

/// One solve by breakdown-free block CG. The loop in `run` consists of the steps declared here.
///
/// An iteration normally copies one packet to the host. The small matrices of a step are factored
/// in the context's memory, and the status of the factorisation is in the packet. A factor that
/// does not exist is replaced by zero. The step that used it then had no effect, and the iteration
/// restarts.
template <Scalar T, class Ctx>
class BreakdownFreeCg {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockCgWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  BreakdownFreeCg(Ctx& context, LinearColumns<T, Ctx>& columns, Storage& storage);

  void run();

 private:
  using Part = typename Packet<Ctx>::Part;
  using WidePart = typename Packet<Ctx>::template PartOf<Wide<T>>;
  using Small = SmallView<Wide<T>, Space>;
  using Stop = StopControl::Stop;

  Index start();
  void restart();
  void step();
  void next_directions();
  void directions();
  void add_directions(const auto& MR);

  Block P() { return directions_.P.columns(0, directions_.count); }
  Block Z() { return directions_.P.columns(0, columns_.active()); }
  Block Q() { return s_.columns.scratch.columns(0, directions_.count); }
  Small F(Index s) { return s_.F.view(s, s); }
  Small ZtZ() { return s_.product.view(columns_.active(), columns_.active()); }
  void factor_energy();
  void invert_by_eigenvectors();
  Small energy_solve(Small C, Small half);
  void note_steps();
  void read_energy_status();
  void take_directions(ConstSmallView<double, HostSpace> status);

  Ctx& context_;
  LinearColumns<T, Ctx>& columns_;
  Storage& s_;
  SearchDirections<T, Space>& directions_;
  Part norms_{};          // ‖r_j‖
  WidePart energy_{};     // G = PᵀQ
  Part energy_status_{};  // of its factor
  WidePart half_step_{};  // WᵀPᵀR of the last step
  Index kept_ = 0;        // columns of W
  Small PtR_{};
};

}  // namespace heddle::detail
