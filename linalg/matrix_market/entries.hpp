#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <optional>
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

/// The entries as stored in the file (of a symmetric matrix, one triangle), in pieces that were
/// parsed separately.
template <Scalar T>
struct Entries {
  /// Entries first … first + count − 1 of `storage`. There are unused entries between pieces.
  struct Piece {
    Index first = 0;
    Index count = 0;
  };

  std::vector<Piece> pieces;
  Buffer<Entry<T>, HostSpace> storage;
  RealOf<T> mirror = 0;     ///< factor of the mirror image: 1 or −1 for symmetric files, else 0
  bool conjugated = false;  ///< the mirror image has conjugate values

  /// Calls visit(row, col, value) for the entries of a piece in the order of the file. If the file
  /// is symmetric, each call is followed by one for the mirrored entry.
  template <class Visit>
  void for_each(Index piece, const Visit& visit) const {
    const Piece& range = pieces[static_cast<std::size_t>(piece)];
    const Entry<T>* entry = storage.data() + range.first;
    for (const Entry<T>* end = entry + range.count; entry != end; ++entry) {
      visit(entry->row, entry->col, entry->value);
      if (mirror != 0 && entry->row != entry->col) {
        const T value = conjugated ? conjugate(entry->value) : entry->value;
        visit(entry->col, entry->row, mirror * value);
      }
    }
  }
};

/// The `header.entries` entries in `text`, the content of the whole file. Throws `InputError` for
/// the first wrong line or a wrong number of entries. Throws `OutOfMemory`. Memory is proportional
/// to the number of lines in the file, whatever the header claims.
template <Scalar T>
Entries<T> parse_entries(HostContext& context, std::string_view text, const Header& header,
                         std::string_view name);

/// The entries in `text`, some whole lines of the body of a file in the format `coordinate`. None
/// if one of the lines is wrong.
template <Scalar T>
std::optional<Entries<T>> parse_lines(HostContext& context, std::string_view text,
                                      const Header& header);

}  // namespace heddle::matrix_market
