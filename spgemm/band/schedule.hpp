#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spgemm/band.hpp>
#include <vector>

/// The diagonals of C = A B as lists of pairs, and the kernels that work on them.
namespace heddle::detail {

/// Diagonal number A of A times diagonal number B of B. Row i of the former meets row i + shift of
/// the latter.
struct DiagonalPair {
  Index A = 0;
  Index B = 0;
  Index shift = 0;
};

/// The pairs of each diagonal of C, by ascending shift: pairs begins[c] … begins[c + 1] − 1 belong
/// to diagonal number c.
struct DiagonalPairs {
  DiaShape product;
  std::vector<Index> begins;
  std::vector<DiagonalPair> pairs;
};

DiagonalPairs pair_diagonals(const DiaShape& A, const DiaShape& B);

/// The lists in the memory of `Space`.
template <class Space>
struct BandSchedule {
  Buffer<Index, Space> begins;
  Buffer<DiagonalPair, Space> pairs;
  Index diagonals_A = 0;
  Index diagonals_B = 0;
  Index diagonals_C = 0;
  Index least_shift = 0;  ///< of A's diagonals
  Index most_shift = 0;
};

/// One product for a kernel.
template <class T>
struct BandProduct {
  const T* A = nullptr;
  const T* B = nullptr;
  T* C = nullptr;
  Index ld_A = 0;
  Index ld_B = 0;
  Index ld_C = 0;
  Index inner = 0;  ///< rows of B
  Index diagonals = 0;
  const Index* begins = nullptr;
  const DiagonalPair* pairs = nullptr;
};

/// Rows first … last − 1 of all diagonals of C.
template <Scalar T>
void multiply_bands(HostContext& context, const BandSchedule<HostSpace>& schedule,
                    const BandProduct<T>& product, Index first, Index last);
template <Scalar T>
void multiply_bands(CudaContext& context, const BandSchedule<DeviceSpace>& schedule,
                    const BandProduct<T>& product, Index first, Index last);

}  // namespace heddle::detail
