#include <heddle/solvers/cg/block_cg.hpp>

namespace heddle {

double block_cg_memory_bytes(Index n, Index b, std::size_t scalar_size) {
  constexpr double kBlocks = 5;         // X, R, P, Q, M⁻¹R
  constexpr double kSmallMatrices = 9;  // b×b matrices, with those of the orthogonaliser
  const double columns = static_cast<double>(b);
  return static_cast<double>(scalar_size) * kBlocks * static_cast<double>(n) * columns +
         sizeof(double) * kSmallMatrices * columns * columns;
}

}  // namespace heddle
