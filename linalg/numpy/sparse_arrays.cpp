#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/numpy/sparse_arrays.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>

namespace heddle::detail {
namespace {

constexpr Index kLeastLines = 1024;  // rows, columns or entries of a piece of work

/// Reads the arrays of one sparse matrix, checks them, and assembles it.
template <Scalar T>
class SparseReader {
 public:
  SparseReader(HostContext& context, const SparseArrays& arrays, std::string_view name)
      : context_(context), arrays_(arrays), name_(name) {}

  HostCsrMatrix<T> read() {
    read_shape();
    const std::string format = npy_text(array("format"));
    read_values();
    if (format == "coo") return read_coo();
    if (format == "csr") return read_compressed(rows_, cols_, false);
    if (format == "csc") return read_compressed(cols_, rows_, true);
    if (format == "bsr") return read_blocks();
    if (format == "dia") return read_diagonals();
    fail("holds a sparse matrix in the format " + detail::quoted(format) +
         ", known are csr, csc, coo, bsr and dia");
  }

 private:
  using Indices = Buffer<std::int32_t, HostSpace>;
  using Offsets = Buffer<Index, HostSpace>;

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(std::string(name_), 0, message);
  }

  const NpyArray& array(std::string_view which) const {
    const auto found = arrays_.find(which);
    if (found == arrays_.end()) {
      fail(fmt::format("lacks the array '{}' of a sparse matrix", which));
    }
    return found->second;
  }

  /// The array of this name, if it has this many dimensions.
  const NpyArray& array(std::string_view which, Index dimensions) const {
    const NpyArray& found = array(which);
    if (found.dimensions() != dimensions) {
      fail(fmt::format("the array '{}' has the shape {}, which has not {} dimension{}", which,
                       describe_shape(found), dimensions, dimensions == 1 ? "" : "s"));
    }
    return found;
  }

  /// The array of this name, if it holds integers in one dimension.
  const NpyArray& integers(std::string_view which) const {
    const NpyArray& found = array(which, 1);
    if (found.kind != NpyKind::integer && found.kind != NpyKind::natural) {
      fail(fmt::format("the array '{}' does not hold integers", which));
    }
    return found;
  }

  void require_length(std::string_view which, Index length, Index needed) const {
    if (length == needed) return;
    fail(fmt::format("the array '{}' holds {} numbers where the others take {}", which, length,
                     needed));
  }

  void read_shape() {
    const NpyArray& shape = integers("shape");
    if (shape.size() != 2) {
      fail(fmt::format("the shape of the sparse matrix has {} numbers, not two", shape.size()));
    }
    with_integers(shape, [&](auto load) {
      rows_ = static_cast<Index>(load(0));
      cols_ = static_cast<Index>(load(1));
    });
    if (std::min(rows_, cols_) < 0 || std::max(rows_, cols_) > kMostIndices) {
      fail(fmt::format("the sparse matrix has the shape ({}, {}), sizes of 0 to {} can be read",
                       rows_, cols_, kMostIndices));
    }
    if (!is_plausible(rows_, array("data").size())) {
      fail(fmt::format("the sparse matrix claims {} rows for only {} entries", rows_,
                       array("data").size()));
    }
  }

  void read_values() {
    const NpyArray& data = array("data");
    require_numbers<T>(data, name_);
    values_ = {context_, static_cast<std::size_t>(data.size())};
    with_numbers<T>(data, [&](auto load) {
      parallel_for(context_.threads(), data.size(),
                   [&](Index k) { values_[static_cast<std::size_t>(k)] = to_scalar<T>(load(k)); });
    });
    const T* const begin = values_.data();
    const T* const end = begin + values_.size();
    const T* const wrong = std::find_if(begin, end, [](T value) { return !is_finite(value); });
    if (wrong != end) refuse_number<T>(data, wrong - begin, name_);
  }

  /// The array of this name, whose numbers must be indices below `bound`.
  Indices read_indices(std::string_view which, Index bound) {
    const NpyArray& source = integers(which);
    Indices indices(context_, static_cast<std::size_t>(source.size()));
    with_integers(source, [&](auto load) {
      for (Index k = 0; k < source.size(); ++k) {
        const auto index = static_cast<Index>(load(k));
        if (index < 0 || index >= bound) {
          fail(fmt::format("element [{}] of '{}' is {}, an index outside the {} x {} matrix", k,
                           which, index, rows_, cols_));
        }
        indices[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(index);
      }
    });
    return indices;
  }

  /// The offsets of `lines` rows, columns or rows of blocks, which share `entries` entries.
  Offsets read_offsets(Index lines, Index entries) {
    const NpyArray& source = integers("indptr");
    require_length("indptr", source.size(), lines + 1);
    Offsets offsets(context_, static_cast<std::size_t>(source.size()));
    with_integers(source, [&](auto load) {
      Index least = 0;
      for (Index k = 0; k <= lines; ++k) {
        const auto offset = static_cast<Index>(load(k));
        if (offset < least || offset > entries || (k == 0 && offset != 0)) {
          fail(fmt::format("element [{}] of 'indptr' is {}: offsets ascend from 0 to at most {}", k,
                           offset, entries));
        }
        offsets[static_cast<std::size_t>(k)] = least = offset;
      }
    });
    return offsets;
  }

  T value(Index k) const noexcept { return values_[static_cast<std::size_t>(k)]; }

  /// The matrix with the entries that for_each_entry(line, emit) emits for 0 ≤ line < lines.
  template <class ForEachEntry>
  HostCsrMatrix<T> assemble(Index lines, const ForEachEntry& for_each_entry) {
    const Slabs pieces = make_slabs(lines, kLeastLines);
    HostCsrMatrix<T> A =
        CsrAssembler<T>(context_, rows_, cols_)
            .assemble(pieces.count(), [&](Index piece, auto emit) {
              for (Index line = pieces.begin(piece); line < pieces.end(piece); ++line) {
                for_each_entry(static_cast<std::size_t>(line), emit);
              }
            });
    require_finite_sums(A.values(), A.nnz(), name_);
    return A;
  }

  HostCsrMatrix<T> read_coo() {
    const Index entries = array("data", 1).size();
    const Indices rows = read_indices("row", rows_);
    const Indices cols = read_indices("col", cols_);
    require_length("row", static_cast<Index>(rows.size()), entries);
    require_length("col", static_cast<Index>(cols.size()), entries);
    return assemble(entries, [&](std::size_t k, auto emit) { emit(rows[k], cols[k], values_[k]); });
  }

  /// `lines` rows, or columns if `by_columns`, of entries at indices below `width`.
  HostCsrMatrix<T> read_compressed(Index lines, Index width, bool by_columns) {
    const Index entries = array("data", 1).size();
    const Indices indices = read_indices("indices", width);
    require_length("indices", static_cast<Index>(indices.size()), entries);
    const Offsets offsets = read_offsets(lines, entries);
    return assemble(lines, [&](std::size_t line, auto emit) {
      for (Index k = offsets[line]; k < offsets[line + 1]; ++k) {
        const auto i = static_cast<Index>(line);
        const Index j = indices[static_cast<std::size_t>(k)];
        emit(by_columns ? j : i, by_columns ? i : j, value(k));
      }
    });
  }

  HostCsrMatrix<T> read_blocks() {
    const NpyArray& data = array("data", 3);
    const Index height = data.shape[1];
    const Index width = data.shape[2];
    if (height < 1 || width < 1 || rows_ % height != 0 || cols_ % width != 0) {
      fail(fmt::format("blocks of {} x {} do not divide the {} x {} matrix", height, width, rows_,
                       cols_));
    }
    const Index blocks = data.shape[0];
    const Indices indices = read_indices("indices", cols_ / width);
    require_length("indices", static_cast<Index>(indices.size()), blocks);
    const Offsets offsets = read_offsets(rows_ / height, blocks);
    return assemble(rows_ / height, [&](std::size_t line, auto emit) {
      for (Index k = offsets[line]; k < offsets[line + 1]; ++k) {
        for (Index i = 0; i < height; ++i) {
          for (Index j = 0; j < width; ++j) {
            const T entry = value(k * data.strides[0] + i * data.strides[1] + j * data.strides[2]);
            if (entry == T{0}) continue;
            emit(static_cast<Index>(line) * height + i,
                 indices[static_cast<std::size_t>(k)] * width + j, entry);
          }
        }
      }
    });
  }

  /// Entry j of the diagonal with offset k stands in column j and row j − k.
  HostCsrMatrix<T> read_diagonals() {
    const NpyArray& data = array("data", 2);
    const NpyArray& offsets = integers("offsets");
    require_length("offsets", offsets.size(), data.shape[0]);
    Offsets diagonals(context_, static_cast<std::size_t>(offsets.size()));
    with_integers(offsets, [&](auto load) {
      for (Index k = 0; k < offsets.size(); ++k) {
        diagonals[static_cast<std::size_t>(k)] =
            std::clamp(static_cast<Index>(load(k)), -kMostIndices - 1, kMostIndices + 1);
      }
    });
    return assemble(std::min(cols_, data.shape[1]), [&](std::size_t line, auto emit) {
      const auto col = static_cast<Index>(line);
      for (std::size_t k = 0; k < diagonals.size(); ++k) {
        const Index row = col - diagonals[k];
        const T entry = value(static_cast<Index>(k) * data.strides[0] + col * data.strides[1]);
        if (row >= 0 && row < rows_ && entry != T{0}) emit(row, col, entry);
      }
    });
  }

  HostContext& context_;
  const SparseArrays& arrays_;
  std::string_view name_;
  Index rows_ = 0;
  Index cols_ = 0;
  Buffer<T, HostSpace> values_;
};

}  // namespace

template <Scalar T>
HostCsrMatrix<T> assemble_sparse_arrays(HostContext& context, const SparseArrays& arrays,
                                        std::string_view name) {
  return SparseReader<T>(context, arrays, name).read();
}

#define HEDDLE_INSTANTIATE(T)                                                         \
  template HostCsrMatrix<T> assemble_sparse_arrays(HostContext&, const SparseArrays&, \
                                                   std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
