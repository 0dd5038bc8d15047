#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <heddle/spmm/reorder/min_hash.hpp>
#include <string>
#include <utility>

namespace heddle {
namespace {

using detail::Candidates;
using detail::MinHash;
using detail::RowSets;

/// Fills panels row by row.
class PanelFiller {
 public:
  PanelFiller(HostContext& context, const RowSets& rows, Index height)
      : rows_(rows),
        height_(height),
        hashes_(min_hashes(context, rows)),
        candidates_(context, hashes_),
        taken_(static_cast<std::size_t>(rows.A.rows), 0),
        panel_of_candidate_(static_cast<std::size_t>(rows.A.rows), -1),
        panel_of_member_(static_cast<std::size_t>((rows.A.cols + rows.width - 1) / rows.width),
                         -1) {}

  std::vector<std::int32_t> order() {
    std::vector<std::int32_t> order;
    order.reserve(taken_.size());
    for (std::int32_t row = next(); row >= 0; row = next()) {
      if (static_cast<Index>(order.size()) % height_ == 0) begin_panel();
      add(row);
      order.push_back(row);
    }
    for (std::size_t row = 0; row < taken_.size(); ++row) {
      if (taken_[row] == 0)
        order.push_back(static_cast<std::int32_t>(row));  // rows without entries
    }
    return order;
  }

 private:
  static constexpr std::size_t kKept = 96;  ///< candidates, from one row to the next
  static constexpr std::size_t kNearest = 8;

  void begin_panel() {
    ++panel_;
    pool_.clear();
    hash_ = MinHash::of_nothing();
    size_ = 0;
  }

  void add(std::int32_t row) {
    taken_[static_cast<std::size_t>(row)] = 1;
    hash_.unite(hashes_[static_cast<std::size_t>(row)]);
    for (Index k = rows_.A.row_offsets[row]; k < rows_.A.row_offsets[row + 1]; ++k) {
      std::int32_t& panel = panel_of_member_[static_cast<std::size_t>(rows_.member(k))];
      if (panel != panel_) ++size_;
      panel = panel_;
    }
    candidates_.for_each(row, [&](std::int32_t other) {
      std::int32_t& panel = panel_of_candidate_[static_cast<std::size_t>(other)];
      if (panel == panel_) return;
      panel = panel_;
      pool_.push_back(other);
    });
    candidates_.remove(row);
  }

  /// The row to take next, −1 if all rows with entries are taken.
  std::int32_t next() {
    std::erase_if(pool_,
                  [&](std::int32_t row) { return taken_[static_cast<std::size_t>(row)] != 0; });
    if (pool_.empty()) return next_in_natural_order();
    // The nearest by the estimate come first; rows that are equally near, in natural order.
    ranks_.clear();
    for (const std::int32_t row : pool_) {
      ranks_.emplace_back(-hash_.agreements(hashes_[static_cast<std::size_t>(row)]), row);
    }
    const std::size_t nearest = std::min(kNearest, ranks_.size());
    std::partial_sort(ranks_.begin(), ranks_.begin() + static_cast<std::ptrdiff_t>(nearest),
                      ranks_.end());
    if (ranks_.size() > kKept) keep_the_nearest();
    std::int32_t best = -1;
    double least = 2;
    for (std::size_t k = 0; k < nearest; ++k) {
      const std::int32_t row = ranks_[k].second;
      const double distance = distance_to_panel(row);
      if (distance < least || (distance == least && row < best)) {
        least = distance;
        best = row;
      }
    }
    return best;
  }

  /// Leaves `kKept` candidates in the pool, by their ranks.
  void keep_the_nearest() {
    std::nth_element(ranks_.begin() + kNearest, ranks_.begin() + kKept, ranks_.end());
    pool_.resize(kKept);
    for (std::size_t k = 0; k < kKept; ++k) pool_[k] = ranks_[k].second;
  }

  std::int32_t next_in_natural_order() {
    const auto rows = static_cast<std::int32_t>(taken_.size());
    while (cursor_ < rows && (taken_[static_cast<std::size_t>(cursor_)] != 0 ||
                              hashes_[static_cast<std::size_t>(cursor_)].empty())) {
      ++cursor_;
    }
    return cursor_ < rows ? cursor_ : -1;
  }

  double distance_to_panel(std::int32_t row) const {
    Index shared = 0;
    Index own = 0;
    std::int32_t last = -1;
    for (Index k = rows_.A.row_offsets[row]; k < rows_.A.row_offsets[row + 1]; ++k) {
      const std::int32_t member = rows_.member(k);
      if (member == last) continue;
      last = member;
      ++own;
      shared += panel_of_member_[static_cast<std::size_t>(member)] == panel_ ? 1 : 0;
    }
    return 1 - static_cast<double>(shared) / static_cast<double>(own + size_ - shared);
  }

  const RowSets& rows_;
  Index height_;
  std::vector<MinHash> hashes_;
  Candidates candidates_;
  std::vector<char> taken_;
  std::vector<std::int32_t>
      panel_of_candidate_;                     ///< the last panel that the row was in the pool of
  std::vector<std::int32_t> panel_of_member_;  ///< the last panel that has the columns
  std::vector<std::int32_t> pool_;             ///< candidates for the panel
  std::vector<std::pair<int, std::int32_t>> ranks_;
  MinHash hash_ = MinHash::of_nothing();  ///< of the panel
  Index size_ = 0;                        ///< of the panel's set
  std::int32_t panel_ = -1;
  std::int32_t cursor_ = 0;
};

}  // namespace

std::vector<std::int32_t> cluster_rows(HostContext& context, const RowPattern& A, BlockShape shape,
                                       const std::vector<std::int32_t>& columns) {
  if (shape.height <= 0 || shape.width <= 0) {
    throw InvalidArgument("clusters of " + std::to_string(shape.height) + " rows by " +
                          std::to_string(shape.width) + " columns: both must be positive");
  }
  check_order(A, {{}, columns});
  const RowSets rows{A, shape.width, inverse_order(columns)};
  return PanelFiller(context, rows, shape.height).order();
}

}  // namespace heddle
