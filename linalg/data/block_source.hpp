#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <heddle/linalg/data/views.hpp>
#include <utility>

namespace heddle {

/// A part of a dense block: rows first_row … first_row + rows − 1 of columns first_column …
/// first_column + columns − 1.
struct BlockWindow {
  Index first_row = 0;  ///< of the block
  Index rows = 0;
  Index first_column = 0;  ///< of the block
  Index columns = 0;
};

/// A rows×cols dense block in host memory, of which a reader takes one part after the other, so
/// that the whole of it need not be in the memory of one process.
template <Scalar T>
struct BlockSource {
  Index rows = 0;
  Index cols = 0;
  /// The entries in a window, which stay in memory until the next call.
  std::function<ConstBlockView<T, HostSpace>(const BlockWindow&)> part{};
  /// Lets those who have the entries write them, row after row and without gaps, to the file at
  /// `path` from the byte `offset` on. Returns whether all are written, else parts must be taken.
  /// Null: parts must be taken.
  std::function<bool(const std::filesystem::path& path, std::size_t offset)> write_rows{};

  BlockSource(Index row_count, Index column_count,
              std::function<ConstBlockView<T, HostSpace>(const BlockWindow&)> take)
      : rows(row_count), cols(column_count), part(std::move(take)) {}

  /// The block X, which is not copied.
  BlockSource(ConstBlockView<T, HostSpace> X)
      : rows(X.rows()), cols(X.cols()), part([X](const BlockWindow& window) {
          return ConstBlockView<T, HostSpace>(X.data() + window.first_row * X.ld(), window.rows,
                                              X.cols(), X.ld())
              .columns(window.first_column, window.columns);
        }) {}

  /// Calls visit(view) with columns first … first + count − 1, as many rows at a time as take 8 MiB
  /// at most.
  template <class Visit>
  void for_each_part(Index first, Index count, const Visit& visit) const {
    if (count == 0) return;
    const Index most = std::max<Index>(1, kPartBytes / (count * Index{sizeof(T)}));
    for (Index row = 0; row < rows; row += most) {
      visit(part({row, std::min(most, rows - row), first, count}));
    }
  }

 private:
  static constexpr Index kPartBytes = 8 << 20;
};

}  // namespace heddle
