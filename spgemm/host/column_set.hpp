#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {

/// The columns of one row of C as bits. A bit of a second level says which word of the first is not
/// 0, and a list which words of the second level are. Rows of neighbouring columns have few of
/// these, so that little is left to sort.
class ColumnSet {
 public:
  explicit ColumnSet(Index cols)
      : words_(words_for(cols)),
        groups_(words_for(std::ssize(words_))),
        touched_(groups_.size() + 1) {}

  /// The inserter of columns. It is a value of its own, so that compilers keep it in registers.
  class Inserter {
   public:
    void operator()(std::int32_t column) noexcept {
      const auto bit = static_cast<std::uint32_t>(column);
      const std::uint32_t w = bit / kWordBits;
      const std::uint32_t g = w / kWordBits;
      words_[w] |= bit_of(bit);
      touched_[count_] = static_cast<std::int32_t>(g);  // without a branch
      count_ += groups_[g] == 0 ? 1 : 0;
      groups_[g] |= bit_of(w);
    }

   private:
    friend class ColumnSet;
    Inserter(std::uint64_t* words, std::uint64_t* groups, std::int32_t* touched, Index count)
        : words_(words), groups_(groups), touched_(touched), count_(count) {}

    static std::uint64_t bit_of(std::uint32_t number) {
      return std::uint64_t{1} << (number % kWordBits);
    }

    std::uint64_t* words_;
    std::uint64_t* groups_;
    std::int32_t* touched_;
    Index count_;
  };

  Inserter begin_insertion() noexcept {
    return {words_.data(), groups_.data(), touched_.data(), count_};
  }
  void end_insertion(const Inserter& inserter) noexcept { count_ = inserter.count_; }

  void insert(const std::int32_t* columns, Index count) noexcept {
    Inserter insert = begin_insertion();
    for (Index k = 0; k < count; ++k) insert(columns[k]);
    end_insertion(insert);
  }

  /// The number of columns. Empties the set.
  Index take_size() noexcept {
    Index size = 0;
    take_words([&](std::size_t, std::uint64_t word) { size += std::popcount(word); });
    return size;
  }

  /// Writes the columns, ascending, and returns their number. Empties the set.
  Index take_columns(std::int32_t* columns) noexcept {
    std::sort(touched_.begin(), touched_.begin() + count_);
    std::int32_t* next = columns;
    take_words([&](std::size_t w, std::uint64_t word) {
      for_each_bit(word, [&](unsigned bit) {
        *next++ = static_cast<std::int32_t>(static_cast<unsigned>(w) * kWordBits + bit);
      });
    });
    return next - columns;
  }

 private:
  static constexpr unsigned kWordBits = 64;

  static std::size_t words_for(Index bits) {
    return static_cast<std::size_t>((bits + kWordBits - 1) / kWordBits);
  }

  template <class Visit>
  static void for_each_bit(std::uint64_t word, const Visit& visit) noexcept {
    for (; word != 0; word &= word - 1) visit(static_cast<unsigned>(std::countr_zero(word)));
  }

  /// Calls visit(w, word) for the words of the touched groups, in the order of the list. Empties
  /// the set.
  template <class Visit>
  void take_words(const Visit& visit) noexcept {
    for (Index k = 0; k < count_; ++k) {
      const auto g = static_cast<std::size_t>(touched_[static_cast<std::size_t>(k)]);
      for_each_bit(std::exchange(groups_[g], 0), [&](unsigned bit) {
        const std::size_t w = g * kWordBits + bit;
        visit(w, std::exchange(words_[w], 0));
      });
    }
    count_ = 0;
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> groups_;  // bit w % 64 of group w / 64: word w is not 0
  std::vector<std::int32_t> touched_;  // groups that are not 0, and one place more
  Index count_ = 0;                    // of these groups
};

}  // namespace heddle::detail
