#pragma once

#include <array>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <tuple>
#include <vector>

namespace heddle::detail {

/// Hashes of a set of integers: per hash function the smallest hash of a member. Two sets agree in
/// one of them with the probability |v ∩ w|/|v ∪ w|. That of a union is the minimum of both.
struct MinHash {
  static constexpr std::size_t kHashes = 16;
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFF;
  std::array<std::uint32_t, kHashes> least;

  static MinHash of_nothing() noexcept;
  void add(std::uint32_t member) noexcept;
  void unite(const MinHash& other) noexcept;
  int agreements(const MinHash& other) const noexcept {
    int count = 0;
    for (std::size_t k = 0; k < kHashes; ++k) count += least[k] == other.least[k] ? 1 : 0;
    return count;
  }
  std::uint32_t digest() const noexcept;  ///< of all hashes
  bool empty() const noexcept { return least[0] == kEmpty; }
};

/// The sets that rows are compared by: the columns of a row at their places in an order, by
/// `width`.
struct RowSets {
  RowPattern A;
  Index width = 1;
  std::vector<std::int32_t> places = {};  ///< of the columns, empty: the natural order

  std::int32_t member(Index entry) const noexcept {
    const std::int32_t column = A.columns[entry];
    const Index place = places.empty() ? column : places[static_cast<std::size_t>(column)];
    return static_cast<std::int32_t>(place / width);
  }
};

/// The hashes of all rows, in parallel.
std::vector<MinHash> min_hashes(HostContext& context, const RowSets& rows);

/// Rows that may be alike: per band, the rows with the same hash in a list. Rows leave the lists.
class Candidates {
 public:
  /// The lists of all rows whose set is not empty.
  Candidates(HostContext& context, const std::vector<MinHash>& hashes);

  /// Calls found(row) for the nearest rows in the lists of `row`, at most `kReach` before and
  /// behind it in each. A row may be found more than once.
  template <class Found>
  void for_each(std::int32_t row, const Found& found) const {
    const Links& own = links_[static_cast<std::size_t>(row)];
    for (std::size_t band = 0; band < kBands; ++band) {
      std::int32_t other = own.before[band];
      for (int k = 0; k < kReach && other != kNone; ++k) {
        found(other);
        other = links_[static_cast<std::size_t>(other)].before[band];
      }
      other = own.behind[band];
      for (int k = 0; k < kReach && other != kNone; ++k) {
        found(other);
        other = links_[static_cast<std::size_t>(other)].behind[band];
      }
    }
  }

  /// Takes the row out of all lists. It keeps its neighbours of that moment.
  void remove(std::int32_t row) noexcept;

 private:
  static constexpr std::size_t kBands = 8;
  static constexpr int kReach = 4;
  static constexpr std::int32_t kNone = -1;

  /// A row's neighbours in all lists, in one line of the caches.
  struct alignas(64) Links {
    std::array<std::int32_t, kBands> before;
    std::array<std::int32_t, kBands> behind;
  };

  /// A row in the order of a list.
  struct Key {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t all;  ///< equal for equal sets
    std::int32_t row;
    bool operator<(const Key& other) const noexcept {
      return std::tie(first, second, all, row) <
             std::tie(other.first, other.second, other.all, other.row);
    }
  };

  void link(std::size_t band, const std::vector<Key>& keys) noexcept;

  std::vector<Links> links_;
};

}  // namespace heddle::detail
