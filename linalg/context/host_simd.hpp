#pragma once

#include <cstdint>
#include <cstring>
#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/context/context.hpp>

/// SIMD vectors of the widest registers of the instruction set that a file is compiled for, for the
/// host kernels.
namespace heddle {
inline namespace HEDDLE_ISA {

#if defined(__AVX512F__)
inline constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t kVectorBytes = 32;
#else
inline constexpr std::size_t kVectorBytes = 16;
#endif

/// Number of scalars in a vector register.
template <Scalar T>
inline constexpr Index kLanes = static_cast<Index>(kVectorBytes / sizeof(T));

template <Scalar T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};

/// A vector register of T. Arithmetic is elementwise.
template <Scalar T>
using Vector = typename VectorOf<T>::type;

/// The tile of sums that a kernel keeps in registers: kTileRows × kTileVectors. With the operands
/// it takes 28 of the 32 registers of AVX-512 and all 16 of AVX.
inline constexpr int kTileRows = kVectorBytes == 64 ? 8 : 4;
inline constexpr int kTileVectors = 3;

template <Scalar T>
inline Vector<T> load(const T* source) noexcept {
  Vector<T> value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <Scalar T>
inline void store(T* target, Vector<T> value) noexcept {
  std::memcpy(target, &value, sizeof value);
}

/// Keeps the first lanes of vectors of doubles and makes the others 0, whatever is in them: what
/// lies between the rows of a block may be denormal numbers, which slow arithmetic down a
/// hundredfold.
class FirstLanes {
 public:
  explicit FirstLanes(Index count) noexcept {
    Bits lanes{};
    for (int lane = 0; lane < kLanes<double>; ++lane) lanes[lane] = lane;
    bits_ = lanes < Bits{} + count;
  }
  Vector<double> of(Vector<double> value) const noexcept {
    return reinterpret_cast<Vector<double>>(reinterpret_cast<Bits>(value) & bits_);
  }

 private:
  typedef std::int64_t Bits __attribute__((vector_size(kVectorBytes)));
  Bits bits_{};
};

/// `count` rounded up to a multiple of the vector length.
template <Scalar T>
constexpr Index round_up_to_lanes(Index count) noexcept {
  return (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
}

inline constexpr Index kCacheLine = 64;

/// Prefetches cache lines that are `pitch` bytes apart, one after the other. Hardware prefetch
/// works for a block that is read row by row, but not for one that is read in tiles. Explicit
/// prefetches within a tile load the next rows while the present ones are multiplied (measured on
/// an AMD Zen 5 core: 2 to 5 times faster).
struct LinesAhead {
  const char* line;
  Index pitch;

  /// `kKeeps`: into the first-level cache. Else into the second-level one only.
  template <bool kKeeps = true>
  void fetch() noexcept {
    constexpr int kRead = 0;
    __builtin_prefetch(line, kRead, kKeeps ? 3 : 2);
    line += pitch;
  }
};

/// Cache lines of the kTileRows next rows of a row-major matrix, a line of each at a time.
struct TileAhead {
  LinesAhead lines;

  template <class T>
  TileAhead(const T* start, Index ld)
      : lines{reinterpret_cast<const char*>(start), ld * static_cast<Index>(sizeof(T))} {}

  void fetch() noexcept {
#pragma GCC unroll 8
    for (int row = 0; row < kTileRows; ++row) lines.fetch();
    lines.line += kCacheLine - kTileRows * lines.pitch;
  }
};

/// Divides `length` into pieces of `longest` and calls body(begin, length) for each. The last two
/// pieces are of nearly equal length, so that none is very short.
template <class Body>
void for_each_piece(Index length, Index longest, const Body& body) {
  Index begin = 0;
  while (begin < length) {
    const Index left = length - begin;
    const Index piece = left > 2 * longest ? longest : left > longest ? (left + 1) / 2 : left;
    body(begin, piece);
    begin += piece;
  }
}

}  // namespace HEDDLE_ISA
}  // namespace heddle
