#pragma once

#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/staged/piece_copies.cuh>

/// The multiplication of a piece that lies in shared memory, and the store of finished rows.
namespace heddle::detail::cuda {

/// The values of a quad.
__device__ inline void load_quad(const float* from, float (&quad)[kQuad]) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  quad[0] = v.x;
  quad[1] = v.y;
  quad[2] = v.z;
  quad[3] = v.w;
}
__device__ inline void load_quad(const double* from, double (&quad)[kQuad]) {
  const double2 v = reinterpret_cast<const double2*>(from)[0];
  const double2 w = reinterpret_cast<const double2*>(from)[1];
  quad[0] = v.x;
  quad[1] = v.y;
  quad[2] = w.x;
  quad[3] = w.y;
}

/// The columns of a thread: kChunks vectors per row.
template <class T, int kChunks>
using Sums = Lane<T, kVectorWidth<T>>[kChunks];

/// sums += the products of quads first … last − 1 with rows of B. `B[c]` points at the columns of
/// the c-th vector of the first row in shared memory.
template <int kChunks, class T>
__device__ void add_quads(const char* const (&B)[kChunks], unsigned pitch, const T* values,
                          const std::uint16_t* places, int first, int last,
                          Sums<T, kChunks>& sums) {
  using Vector = Lane<T, kVectorWidth<T>>;
  for (int quad = first; quad < last; ++quad) {
    T a[kQuad];
    load_quad(values + quad * kQuad, a);
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
      for (int c = 0; c < kChunks; ++c) multiply_add(a[k], b[k][c], sums[c]);
    }
  }
}

/// The sums of a thread's rows, and the multiplication of a staged piece.
template <class Config, class Product>
class RowSums {
  using T = typename Product::Value;
  static constexpr int kWidth = kVectorWidth<T>;
  static constexpr int kChunks = Config::kChunks;
  using Vector = Lane<T, kWidth>;
  /// Whether terms are loaded before the sums: where they leave enough registers for these.
  static constexpr bool kEarly = Config::kRows * kChunks <= 2;

 public:
  __device__ explicit RowSums(const StageShape& shape)
      : first_row_(static_cast<int>(threadIdx.x) / shape.lanes),
        active_(first_row_ < shape.rows_at_once) {
    const int lane = static_cast<int>(threadIdx.x) % shape.lanes;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      // Four lanes of two neighbouring rows read 128 bytes of different banks.
      const int chunk = shape.lanes == 4 && kChunks == 2 ? c ^ (first_row_ & 1) : c;
      columns_[c] = (chunk * shape.lanes + lane) * kWidth;
    }
  }

  /// What the rows of a block's last piece need beside their sums. It is loaded before the piece is
  /// multiplied.
  struct Early {
    std::int32_t row[Config::kRows];  ///< of C, −1 where the sum is not finished
    Vector C[Config::kRows][kChunks];
    Vector X[Config::kRows][kChunks];
  };

  __device__ Early begin(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                         const QueuedPiece& queued, const std::int32_t* rows) const {
    const bool needed = active_ && queued.piece.last != 0;
    Early early;
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      early.row[k] = needed && r < A.rows_per_block ? rows[r] : -1;
    }
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
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

  __device__ void add(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                      const QueuedPiece& queued, const char* rows_of_B, const char* part,
                      const Early& early) {
    if (!active_) return;
    const auto* const row_quads = reinterpret_cast<const std::uint16_t*>(part + shape.row_quads);
    const char* B[kChunks];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) B[c] = rows_of_B + columns_[c] * sizeof(T);
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      if (r >= A.rows_per_block) break;
      add_quads<kChunks>(B, shape.pitch, reinterpret_cast<const T*>(part),
                         reinterpret_cast<const std::uint16_t*>(part + shape.places), row_quads[r],
                         row_quads[r + 1], sums_[k]);
      if (early.row[k] < 0) continue;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        end(p, shape, early.row[k], queued.stripe_column + columns_[c], sums_[k][c], early.C[k][c],
            early.X[k][c]);
        sums_[k][c] = {};
      }
    }
  }

 private:
  /// Ends a vector of row `row` of C.
  __device__ static void end(const Product& p, const StageShape& shape, Index row, Index column,
                             const Vector& sum, const Vector& C, const Vector& X) {
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

  int first_row_;
  bool active_;
  int columns_[kChunks];  ///< the first of each vector in the stripe
  Sums<T, kChunks> sums_[Config::kRows];
};

}  // namespace heddle::detail::cuda
