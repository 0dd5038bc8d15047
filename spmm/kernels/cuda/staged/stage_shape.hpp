#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/cuda/staged/queued_piece.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>

namespace heddle::detail::cuda {

/// The numbers that a version of the kernel is compiled for.
struct StageSizes {
  int stages;  ///< of the ring
  int lists;   ///< of columns in flight
  int queue;   ///< places for pieces
  int chunks;  ///< vectors of a row of C per thread
  int unit;    ///< threads per row of C are a multiple of this
  int most_threads;
};

/// How a product of N columns is divided, and where everything lies in shared memory, in bytes.
struct StageShape {
  int lanes = 0;  ///< threads per row of C
  int teams = 0;  ///< of rows of a block
  int threads = 0;
  int stripes = 0;
  int stripe = 0;            ///< columns of C in a stripe
  bool wide_copies = false;  ///< whether rows of B can be copied by 16 bytes
  bool wide_terms = false;   ///< whether rows of C, X and Y can be read and written by 16 bytes
  unsigned pitch = 0;        ///< between rows of B
  unsigned row_bytes = 0;    ///< of the rows of B in a stage
  unsigned parts = 0;        ///< of A, from the begin of shared memory
  unsigned part_bytes = 0;
  unsigned places = 0;      ///< from the begin of a part, which begins with values
  unsigned team_quads = 0;  ///< likewise
  unsigned lists = 0;       ///< of columns and rows, from the begin of shared memory
  unsigned list_bytes = 0;
  unsigned queue = 0;
  unsigned bytes = 0;
};

/// The shape with `stripes` stripes.
template <class T, class V>
StageShape shape_with_stripes(const RowBlocksView<V>& A, Index N, const StageSizes& sizes,
                              Index stripes) {
  StageShape shape;
  const Index vectors = (N + kVectorWidth<T> - 1) / kVectorWidth<T>;
  const Index per_lane = stripes * sizes.chunks;
  const Index lanes = (vectors + per_lane - 1) / per_lane;
  shape.lanes = static_cast<int>((lanes + sizes.unit - 1) / sizes.unit) * sizes.unit;
  shape.stripe = shape.lanes * sizes.chunks * kVectorWidth<T>;
  shape.stripes = static_cast<int>((N + shape.stripe - 1) / shape.stripe);
  shape.teams = A.teams();
  constexpr int kWarp = 32;
  shape.threads = (shape.teams * shape.lanes + kWarp - 1) / kWarp * kWarp;

  const auto bytes = [](int count, std::size_t each) {
    return static_cast<unsigned>(count) * static_cast<unsigned>(each);
  };
  shape.pitch = bytes(shape.stripe, sizeof(T));
  shape.row_bytes = bytes(A.most_columns, shape.pitch);
  shape.places = bytes(A.most_quads * kQuadValues, sizeof(V));
  shape.team_quads = shape.places + bytes(A.most_quads * kQuad, sizeof(std::uint16_t));
  shape.part_bytes = shape.team_quads + bytes(A.quad_pitch(), sizeof(std::uint16_t));
  shape.list_bytes = bytes(A.most_columns + A.rows_per_block, sizeof(std::int32_t));
  shape.parts = bytes(sizes.stages, shape.row_bytes);
  shape.lists = shape.parts + bytes(sizes.stages, shape.part_bytes);
  shape.queue = shape.lists + bytes(sizes.lists, shape.list_bytes);
  shape.bytes = shape.queue + bytes(sizes.queue, sizeof(QueuedPiece));
  return shape;
}

/// The shape with the fewest stripes that needs at most `most_bytes` of shared memory. If there is
/// none, the one with the narrowest stripes.
template <class T, class V>
StageShape stage_shape(const RowBlocksView<V>& A, Index N, const StageSizes& sizes,
                       unsigned most_bytes) {
  Index stripes = 1;
  StageShape shape = shape_with_stripes<T>(A, N, sizes, stripes);
  const auto fits = [&] {
    return shape.bytes <= most_bytes && shape.threads <= sizes.most_threads;
  };
  while (!fits() && shape.lanes > sizes.unit) shape = shape_with_stripes<T>(A, N, sizes, ++stripes);
  return shape;
}

}  // namespace heddle::detail::cuda
