#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/cg/columns_storage.hpp>

namespace heddle {

/// The memory behind `BlockCgWorkspace`, for n×b systems on one context.
template <Scalar T, class Ctx>
struct BlockCgWorkspace<T, Ctx>::Storage {
  Storage(Ctx& ctx, Index n, Index b);

  Ctx* context;
  detail::LinearColumnsStorage<T, Ctx> columns;
  MultiVector<T, Space> Z;  // M⁻¹R. Empty until it is needed
  Orthogonalizer<T, Ctx> orthogonalizer;
  SmallMatrix<Wide<T>, Space> F;            // P F is orthonormal
  SmallMatrix<Wide<T>, Space> W;            // (PᵀAP)⁻¹ = W Wᵀ
  SmallMatrix<Wide<T>, Space> product;      // PᵀR or QᵀZ, r×s
  SmallMatrix<Wide<T>, Space> half;         // Wᵀ times it
  SmallMatrix<Wide<T>, Space> coefficient;  // α, β
  detail::OwnedHostContext host;
  HostEigensolver<Wide<T>> eigensolver;
  SmallMatrix<Wide<T>, HostSpace> eigenvectors;  // of PᵀAP
  SmallMatrix<double, HostSpace> eigenvalues;

  // Of CG on each column:
  Packet<Ctx> rayleigh;  // ‖p_j‖, p_jᵀAp_j. Valid beyond the end of an iteration
  SmallMatrix<double, HostSpace> factors;   // α or β
  SmallMatrix<double, Space> unused_norms;  // ‖x_j‖
};

}  // namespace heddle
