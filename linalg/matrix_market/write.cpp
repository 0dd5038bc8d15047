#include <algorithm>
#include <charconv>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/output_file.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>

namespace heddle {
namespace {

constexpr Index kLineBytes = 80;  // two indices and a complex value need no more
constexpr Index kPieceLines = 1 << 14;

/// Appends the real or complex number of an entry, in the fewest digits that read back to the same
/// bits, and then `end`.
template <class Number>
char* append(char* to, Number number, char end) noexcept {
  if constexpr (ComplexScalar<Number>) {
    return append(append(to, number.real(), ' '), number.imag(), end);
  } else {
    to = std::to_chars(to, to + kLineBytes / 2, number).ptr;
    *to = end;
    return to + 1;
  }
}

/// The banner of a file of this format and symmetry.
template <Scalar T>
std::string banner(const char* format, const char* symmetry) {
  return std::string("%%MatrixMarket matrix ") + format + (kComplex<T> ? " complex " : " real ") +
         symmetry + "\n";
}

/// Writes the lines of items 0 … items − 1. format(first, last, to) writes those of items first …
/// last − 1 at `to` and returns the end of the text. Pieces are formatted in parallel, and the
/// pieces of a round are written before the next round starts.
template <class Format>
void write_lines(OutputFile& file, Index items, const Format& format) {
  HostContext context;
  const Slabs pieces{items, kPieceLines};
  const Index round = std::min<Index>(2 * context.threads(), pieces.count());
  Buffer<char, HostSpace> room(context, static_cast<std::size_t>(round * kPieceLines * kLineBytes));
  Buffer<Index, HostSpace> lengths(context, static_cast<std::size_t>(round));
  for (Index first = 0; first < pieces.count(); first += round) {
    const Index count = std::min(round, pieces.count() - first);
    const auto place = [&](Index i) { return room.data() + i * kPieceLines * kLineBytes; };
    parallel_for(context.threads(), count, [&](Index i) {
      char* end = format(pieces.begin(first + i), pieces.end(first + i), place(i));
      lengths[static_cast<std::size_t>(i)] = end - place(i);
    });
    for (Index i = 0; i < count; ++i) {
      file.write({place(i), static_cast<std::size_t>(lengths[static_cast<std::size_t>(i)])});
    }
  }
}

template <Scalar T>
Index count_lower(const CsrView<T, HostSpace>& A) noexcept {
  Index count = 0;
  for (Index row = 0; row < A.rows; ++row) {
    const std::int32_t* begin = A.columns + A.row_offsets[row];
    const std::int32_t* end = A.columns + A.row_offsets[row + 1];
    count += std::upper_bound(begin, end, row) - begin;
  }
  return count;
}

}  // namespace

template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, CsrView<T, HostSpace> A,
                         bool symmetric) {
  const std::string shape = std::to_string(A.rows) + " " + std::to_string(A.cols);
  if (symmetric && A.rows != A.cols) {
    throw InvalidArgument("write_matrix_market: a symmetric file needs a square matrix, got " +
                          std::to_string(A.rows) + "x" + std::to_string(A.cols));
  }
  OutputFile file(path);
  const char* const triangle = kComplex<T> ? "hermitian" : "symmetric";
  file.write(banner<T>("coordinate", symmetric ? triangle : "general") + shape + " " +
             std::to_string(symmetric ? count_lower(A) : A.nnz) + "\n");
  write_lines(file, A.nnz, [&](Index first, Index last, char* to) {
    Index row =
        std::upper_bound(A.row_offsets, A.row_offsets + A.rows + 1, first) - A.row_offsets - 1;
    for (Index k = first; k < last; ++k) {
      while (A.row_offsets[row + 1] <= k) ++row;
      if (symmetric && A.columns[k] > row) continue;
      to = append(to, row + 1, ' ');
      to = append(to, Index{A.columns[k]} + 1, ' ');
      to = append(to, A.values[k], '\n');
    }
    return to;
  });
  file.commit();
}

template <Scalar T>
void write_matrix_market(const std::filesystem::path& path, const BlockSource<T>& X) {
  OutputFile file(path);
  file.write(banner<T>("array", "general") + std::to_string(X.rows) + " " + std::to_string(X.cols) +
             "\n");
  for (Index j = 0; j < X.cols; ++j) {
    X.for_each_part(j, 1, [&](const ConstBlockView<T, HostSpace>& part) {
      write_lines(file, part.rows(), [&](Index first, Index last, char* to) {
        for (Index i = first; i < last; ++i) to = append(to, part(i, 0), '\n');
        return to;
      });
    });
  }
  file.commit();
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template void write_matrix_market(const std::filesystem::path&, CsrView<T, HostSpace>, bool); \
  template void write_matrix_market(const std::filesystem::path&, const BlockSource<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
