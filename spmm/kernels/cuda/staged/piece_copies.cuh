#pragma once

#include <cuda_pipeline.h>

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/cuda/staged/piece_walk.cuh>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/stage_shape.hpp>

/// The way of a piece to shared memory.
namespace heddle::detail::cuda {

/// Copies `bytes`, a multiple of 16, by all threads. Both addresses are aligned to 16 bytes.
__device__ inline void copy_part(char* to, const void* from, int bytes) {
  for (int k = static_cast<int>(threadIdx.x) * kVectorBytes; k < bytes;
       k += static_cast<int>(blockDim.x) * kVectorBytes) {
    __pipeline_memcpy_async(to + k, static_cast<const char*>(from) + k, kVectorBytes);
  }
}

/// Copies the rows `list` of B, `columns` columns from `first` on, by `kBytes` at a time. What is
/// beyond the last column becomes zero up to a multiple of kBytes.
template <int kBytes, class T>
__device__ void copy_rows(char* to, unsigned pitch, const SpmmProduct<T>& p,
                          const std::int32_t* list, int count, Index first, int columns) {
  constexpr int kValues = kBytes / static_cast<int>(sizeof(T));
  const int chunks = (columns + kValues - 1) / kValues;
  const int step = static_cast<int>(blockDim.x) / chunks;
  const int chunk = static_cast<int>(threadIdx.x) % chunks;
  const int begin = static_cast<int>(threadIdx.x) / chunks;
  const Index column = first + chunk * kValues;
  if (begin >= step || column >= p.N) return;
  const int absent = max(0, kValues - static_cast<int>(min(p.N - column, Index{kValues})));
  const T* const from = p.B + column;
  char* const own = to + chunk * kBytes;
  for (int r = begin; r < count; r += step) {
    __pipeline_memcpy_async(own + r * pitch, from + list[r] * p.ldb, kBytes, absent * sizeof(T));
  }
}

/// Copies the rows of B that a piece needs to `rows`, and its part of A to `part`.
template <class T, class V>
__device__ void copy_stage(char* rows, char* part, const SpmmProduct<T>& p,
                           const RowBlocksView<V>& A, const StageShape& shape,
                           const QueuedPiece& queued, const std::int32_t* list) {
  const RowPiece& piece = queued.piece;
  const Index first = queued.stripe_column;
  const int columns = static_cast<int>(min(Index{shape.stripe}, p.N - first));
  if (shape.wide_copies) {
    copy_rows<kVectorBytes>(rows, shape.pitch, p, list, piece.columns, first, columns);
  } else {
    copy_rows<sizeof(T)>(rows, shape.pitch, p, list, piece.columns, first, columns);
  }
  if (!queued.new_part) return;
  copy_part(part, A.values + piece.first_quad * kQuadValues,
            piece.quads * kQuadValues * static_cast<int>(sizeof(V)));
  copy_part(part + shape.places, A.places + piece.first_quad * kQuad,
            piece.quads * kQuad * static_cast<int>(sizeof(std::uint16_t)));
  copy_part(part + shape.team_quads, A.team_quads + queued.index * A.quad_pitch(),
            A.quad_pitch() * static_cast<int>(sizeof(std::uint16_t)));
}

}  // namespace heddle::detail::cuda
