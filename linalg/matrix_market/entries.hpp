#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <string_view>
#include <vector>

/// The entries of a Matrix Market file, parsed in parallel.
namespace heddle::matrix_market {

template <Scalar T>
struct Entry {
  std::int32_t row;  ///< 0-based
  std::int32_t col;
  T value;
};

/// The entries as they stand in the file (symmetric ones once), in pieces that were parsed by
/// themselves.
template <Scalar T>
struct Entries {
  /// Entries first … first + count − 1 of `storage`; between pieces lie gaps.
  struct Piece {
    Index first = 0;
    Index count = 0;
  };

  std::vector<Piece> pieces;
  Buffer<Entry<T>, HostSpace> storage;
  T mirror = 0;  ///< factor of the mirror image: 1 or −1 for (skew-)symmetric files, else 0

  /// Calls visit(row, col, value) for the entries of a piece in the order of the file, each
  /// followed by its mirror image if the file is symmetric.
  template <class Visit>
  void for_each(Index piece, const Visit& visit) const {
    const Piece& range = pieces[static_cast<std::size_t>(piece)];
    const Entry<T>* entry = storage.data() + range.first;
    for (const Entry<T>* end = entry + range.count; entry != end; ++entry) {
      visit(entry->row, entry->col, entry->value);
      if (mirror != 0 && entry->row != entry->col) {
        visit(entry->col, entry->row, mirror * entry->value);
      }
    }
  }
};

/// The `header.entries` entries in `text`, which is the whole file. Throws `InputError` for the
/// first line that is wrong, and if the entries are fewer or more; `OutOfMemory`. Memory is bounded
/// by the lines there are, whatever the header claims.
template <Scalar T>
Entries<T> parse_entries(HostContext& context, std::string_view text, const Header& header,
                         std::string_view name);

}  // namespace heddle::matrix_market
