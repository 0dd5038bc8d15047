#pragma once

#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/cg/columns.hpp>
#include <memory>

namespace heddle {

/// The memory behind `BlockCgWorkspace`, for n×b systems on one context.
template <Scalar T, class Ctx>
struct BlockCgWorkspace<T, Ctx>::Storage {
  Storage(Ctx& ctx, Index n, Index b);

  Ctx* context;
  LinearColumnsStorage<T, Ctx> columns;
  MultiVector<T, Space> Z;
  Orthogonalizer<T, Ctx> orthogonalizer;
  SmallMatrix<double, Space> W;            // (PᵀAP)⁻¹ = W Wᵀ
  SmallMatrix<double, Space> product;      // PᵀR or QᵀZ, r×s
  SmallMatrix<double, Space> half;         // Wᵀ times it
  SmallMatrix<double, Space> coefficient;  // α, β, or what makes P orthonormal
  std::unique_ptr<HostContext> host;
  SymmetricEigensolver<HostContext> eigensolver;
  SmallMatrix<double, HostSpace> eigenvectors;  // of PᵀAP
  SmallMatrix<double, HostSpace> eigenvalues;

  // Of CG on each column:
  Packet<Ctx> rayleigh;  // ‖p_j‖, p_jᵀAp_j; outlasts the end of an iteration
  SmallMatrix<double, HostSpace> factors;   // α or β
  SmallMatrix<double, Space> unused_norms;  // ‖x_j‖
};

/// One solve by breakdown-free block CG: the steps that the loop in `run` is made of.
///
/// A steady iteration brings one packet to the host. The small problems of a step are factored
/// where the blocks are, and how that went stands in the packet; a factor that does not exist is
/// zero, so the step that took it did nothing and the iteration starts anew from there.
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

  void restart();
  void step();
  void directions();

  Block P() { return directions_.P.columns(0, directions_.count); }
  Block Q() { return s_.columns.scratch.columns(0, directions_.count); }
  void factor_energy();
  void invert_by_eigenvectors();
  SmallView<double, Space> energy_solve(ConstBlockView<T, Space> U, ConstBlockView<T, Space> V);
  void orthonormalize_Z(Part status);
  void judge_energy();
  void judge_directions(Part status);

  Ctx& context_;
  LinearColumns<T, Ctx>& columns_;
  Storage& s_;
  SearchDirections<T, Space>& directions_;
  Part norms_{};          // ‖r_j‖
  Part energy_{};         // G = PᵀQ
  Part energy_status_{};  // of its factor
  Index kept_ = 0;        // columns of W
};

/// One solve by CG on each column, with products for all columns at once.
///
/// A steady iteration brings two packets to the host, for α and for β. The first brings ‖p_j‖, too,
/// which making P gave: so Rayleigh quotients cost no pass over P.
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
  void directions();

  Block P() { return directions_.P.columns(0, columns_.active()); }
  Part expect_lengths();
  void judge_energies(ConstSmallView<double, HostSpace> energies);
  void subtract(ConstBlockView<T, Space> U, ConstBlockView<T, Space> V, Block W,
                SmallView<double, Space> norms);

  Ctx& context_;
  LinearColumns<T, Ctx>& columns_;
  Storage& s_;
  SearchDirections<T, Space>& directions_;
  Part norms_{};    // ‖r_j‖
  Part lengths_{};  // ‖p_j‖
};

}  // namespace heddle
