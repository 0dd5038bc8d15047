#pragma once

#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/split_rows.hpp>
#include <heddle/spmm/kernels/cuda/staged/piece_copies.cuh>

/// The multiplication of a piece that lies in shared memory, and the store of finished rows.
namespace heddle::detail::cuda {

/// Loads 16 bytes of values.
__device__ inline void load_vector(const float* from, float* to) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
}
__device__ inline void load_vector(const double* from, double* to) {
  const double2 v = *reinterpret_cast<const double2*>(from);
  to[0] = v.x;
  to[1] = v.y;
}
__device__ inline void load_vector(const std::complex<double>* from, std::complex<double>* to) {
  to[0] = load<1>(from)[0];
}

/// The columns of a thread: kChunks vectors per row.
template <class T, int kChunks>
using Sums = Lane<T, kVectorWidth<T>>[kChunks];

/// sums += the products of quads first … last − 1 of a team with rows of B. `B[c]` points at the
/// columns of the c-th vector of the first row in shared memory.
template <int kChunks, class T, class V>
__device__ void add_quads(const char* const (&B)[kChunks], unsigned pitch, const V* values,
                          const std::uint16_t* places, int first, int last,
                          Sums<T, kChunks> (&sums)[kTeamRows]) {
  using Vector = Lane<T, kVectorWidth<T>>;
  for (int quad = first; quad < last; ++quad) {
    V a[kQuadValues];
#pragma unroll
    for (int k = 0; k < kQuadValues; k += kVectorWidth<V>) {
      load_vector(values + quad * kQuadValues + k, a + k);
    }
    const ushort4 place = reinterpret_cast<const ushort4*>(places)[quad];
    const unsigned at[kQuad] = {place.x * pitch, place.y * pitch, place.z * pitch, place.w * pitch};
    Vector b[kQuad][kChunks];
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        b[k][c] = *reinterpret_cast<const Vector*>(B[c] + at[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
#pragma unroll
      for (int r = 0; r < kTeamRows; ++r) {
#pragma unroll
        for (int c = 0; c < kChunks; ++c) {
          multiply_add(static_cast<T>(a[k * kTeamRows + r]), b[k][c], sums[r][c]);
        }
      }
    }
  }
}

/// The sums of a thread's team of rows, and the multiplication of a staged piece.
template <class Config, class Product, class V>
class RowSums {
  using T = typename Product::Value;
  static constexpr int kWidth = kVectorWidth<T>;
  static constexpr int kChunks = Config::kChunks;
  using Vector = Lane<T, kWidth>;
  /// Whether terms are loaded before the sums: where they leave enough registers for these.
  static constexpr bool kEarly = kTeamRows * kChunks <= 2;

 public:
  __device__ explicit RowSums(const StageShape& shape)
      : team_(static_cast<int>(threadIdx.x) / shape.lanes), active_(team_ < shape.teams) {
    const int lane = static_cast<int>(threadIdx.x) % shape.lanes;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      // Four lanes of two neighbouring teams read 128 bytes of different banks.
      const int chunk = shape.lanes == 4 && kChunks == 2 ? c ^ (team_ & 1) : c;
      columns_[c] = (chunk * shape.lanes + lane) * kWidth;
    }
  }

  /// What the rows of a block's last piece need beside their sums. It is loaded before the piece is
  /// multiplied.
  struct Early {
    /// As in `RowBlocksView`, kNoRow also where the sum is not finished.
    std::int32_t row[kTeamRows];
    Vector C[kTeamRows][kChunks];
    Vector X[kTeamRows][kChunks];
  };

  __device__ Early begin(const Product& p, const StageShape& shape, const QueuedPiece& queued,
                         const std::int32_t* rows) const {
    const bool needed = active_ && queued.piece.last != 0;
    Early early;
#pragma unroll
    for (int k = 0; k < kTeamRows; ++k) {
      early.row[k] = needed ? rows[team_ * kTeamRows + k] : kNoRow;
    }
#pragma unroll
    for (int k = 0; k < kTeamRows; ++k) {
      const bool loads = kEarly && early.row[k] >= 0 && shape.wide_terms;
#pragma unroll
      for (int c = 0; loads && c < kChunks; ++c) {
        const Index column = queued.stripe_column + columns_[c];
        if (column + kWidth > p.N) continue;
        if (p.beta != T{0}) {
          early.C[k][c] = load_once<kWidth>(p.C + early.row[k] * p.ldc + column);
        }
        if constexpr (Product::kTerms) {
          if (p.delta != T{0}) {
            early.X[k][c] = load_once<kWidth>(p.X + early.row[k] * p.ldx + column);
          }
        }
      }
    }
    return early;
  }

  __device__ void add(const Product& p, const StageShape& shape, const QueuedPiece& queued,
                      const char* rows_of_B, const char* part, const Early& early,
                      const RowParts<T>& parts) {
    if (!active_) return;
    const auto* const quads = reinterpret_cast<const std::uint16_t*>(part + shape.team_quads);
    const char* B[kChunks];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) B[c] = rows_of_B + columns_[c] * sizeof(T);
    add_quads<kChunks, T>(B, shape.pitch, reinterpret_cast<const V*>(part),
                          reinterpret_cast<const std::uint16_t*>(part + shape.places), quads[team_],
                          quads[team_ + 1], sums_);
#pragma unroll
    for (int k = 0; k < kTeamRows; ++k) {
      if (early.row[k] != kNoRow) {
#pragma unroll
        for (int c = 0; c < kChunks; ++c) {
          end(p, shape, early.row[k], queued.stripe_column + columns_[c], sums_[k][c],
              early.C[k][c], early.X[k][c], parts);
        }
      }
      if (queued.piece.last == 0) continue;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) sums_[k][c] = {};
    }
  }

 private:
  /// Ends a vector of row `row` of C, or stores it in a part of a row.
  __device__ static void end(const Product& p, const StageShape& shape, Index row, Index column,
                             const Vector& sum, const Vector& C, const Vector& X,
                             const RowParts<T>& parts) {
    if (row < kNoRow) {
      if (column < parts.pitch) store(sum, parts.sums + (kNoRow - 1 - row) * parts.pitch + column);
      return;
    }
    if (shape.wide_terms && column + kWidth <= p.N) {
      if constexpr (kEarly) {
        Terms<T, kWidth> terms;
        terms.C = C;
        terms.X = X;
        if constexpr (Product::kTerms) {
          if (p.gamma != T{0}) terms.B = load<kWidth>(p.B + row * p.ldb + column);
          if (p.eta != T{0}) terms.Y = load_once<kWidth>(p.Y + row * p.ldy + column);
        }
        finish<Storing::streaming>(p, row, column, sum, terms);
      } else {
        finish<Storing::streaming>(p, row, column, sum);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (column + i < p.N) finish(p, row, column + i, Lane<T, 1>{{sum[i]}});
    }
  }

  int team_;
  bool active_;
  int columns_[kChunks];  ///< the first of each vector in the stripe
  Sums<T, kChunks> sums_[kTeamRows];
};

}  // namespace heddle::detail::cuda
