#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/null_space/distributed_null_space.hpp>
#include <heddle/solvers/null_space/null_space_rounding.hpp>
#include <vector>

namespace heddle {
namespace {

using detail::Dominance;

/// The most rounds in which marks pass from processes to their neighbours.
constexpr int kMostRounds = 100;

/// The rows of this process, whose components of the graph are followed to those of others.
class Parts {
 public:
  Parts(HostContext& context, const DistributedCsrView<double, HostSpace>& A)
      : context_(context),
        A_(A.own),
        R_(A.others().entries.view()),
        exchange_(context, *A.remote->lists),
        halo_rows_(A.remote->lists->halo()),
        values_(context, A_.rows, 1),
        remote_row_(index(A_.rows), -1) {
    for (Index k = 0; k < R_.rows; ++k) remote_row_[index(A.remote->rows[index(k)])] = k;
  }

  /// The square roots of the numbers of entries off the diagonal. Empty, on all processes, if a
  /// diagonal entry is not 1 in a row that has such entries.
  std::vector<double> roots_of_degrees() const {
    std::vector<double> roots(index(A_.rows), 1);
    bool unit = true;
    for (Index row = 0; row < A_.rows; ++row) {
      double diagonal = 0;
      Index degree = 0;
      for_each(row, [&](Index column, double value, bool own) {
        if (own && column == row) {
          diagonal += value;
        } else {
          degree += value != 0;
        }
      });
      if (degree == 0) continue;
      unit = unit && detail::is_unit<double>(diagonal);
      roots[index(row)] = std::sqrt(static_cast<double>(degree));
    }
    if (context_.processes()->any(!unit)) roots.clear();
    return roots;
  }

  /// Whether no component has a null vector with these sizes, empty for ones.
  bool regular(const std::vector<double>& sizes) {
    std::vector<double> d(index(A_.rows), 1);
    if (!sizes.empty()) d = sizes;
    const std::vector<double> halo = of_halo(d);
    std::vector<double> marks(index(A_.rows), 0);  // 1: of a component without a null vector
    bool violated = false;
    for (Index row = 0; row < A_.rows; ++row) {
      const Dominance found = dominance_of(row, d, halo);
      violated = violated || found == Dominance::violated;
      if (found == Dominance::strict) marks[index(row)] = 1;
    }
    if (context_.processes()->any(violated)) return true;
    for (Index row = 0; row < A_.rows; ++row) {
      if (marks[index(row)] == 1) reached_.push_back(row);
    }
    spread(marks);
    for (int round = 0; round < kMostRounds; ++round) {
      take_from_halo(marks);
      const bool more = !reached_.empty();
      spread(marks);
      if (!context_.processes()->any(more)) break;
    }
    return !context_.processes()->any(std::find(marks.begin(), marks.end(), 0) != marks.end());
  }

 private:
  static std::size_t index(Index i) noexcept { return static_cast<std::size_t>(i); }

  /// Calls visit(column, value, own) for the entries of a row, with columns among the rows of this
  /// process (own), or in the halo.
  template <class Visit>
  void for_each(Index row, const Visit& visit) const {
    for (Index k = A_.row_offsets[row]; k < A_.row_offsets[row + 1]; ++k) {
      visit(A_.columns[k], A_.values[k], true);
    }
    const Index remote = remote_row_[index(row)];
    if (remote < 0) return;
    for (Index k = R_.row_offsets[remote]; k < R_.row_offsets[remote + 1]; ++k) {
      visit(R_.columns[k], R_.values[k], false);
    }
  }

  Dominance dominance_of(Index row, const std::vector<double>& d,
                         const std::vector<double>& halo) const {
    double diagonal = 0, others = 0, entries = 0;
    for_each(row, [&](Index column, double value, bool own) {
      ++entries;
      if (own && column == row) {
        diagonal += value * d[index(row)];
      } else {
        others += std::abs(value) * (own ? d : halo)[index(column)];
      }
    });
    return detail::dominance<double>(diagonal, others, entries);
  }

  /// The values that other processes have in the rows of the halo.
  std::vector<double> of_halo(const std::vector<double>& own) {
    for (Index i = 0; i < A_.rows; ++i) values_.view()(i, 0) = own[index(i)];
    exchange_.begin(context_, values_.view());
    const ConstBlockView<double, HostSpace> halo = exchange_.end(context_);
    std::vector<double> values(index(halo_rows_));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = halo(static_cast<Index>(k), 0);
    return values;
  }

  /// Marks all rows that are connected with those reached within this process.
  void spread(std::vector<double>& marks) {
    while (!reached_.empty()) {
      const Index row = reached_.back();
      reached_.pop_back();
      for_each(row, [&](Index column, double value, bool own) {
        if (own && value != 0) mark(column, marks);
      });
    }
  }

  void take_from_halo(std::vector<double>& marks) {
    const std::vector<double> halo = of_halo(marks);
    for (Index row = 0; row < A_.rows; ++row) {
      for_each(row, [&](Index column, double value, bool own) {
        if (!own && value != 0 && halo[index(column)] == 1) mark(row, marks);
      });
    }
  }

  void mark(Index row, std::vector<double>& marks) {
    if (marks[index(row)] == 1) return;
    marks[index(row)] = 1;
    reached_.push_back(row);
  }

  HostContext& context_;
  CsrView<double, HostSpace> A_;
  CsrView<double, HostSpace> R_;  // the entries in columns of the halo
  HaloExchange<double, HostContext> exchange_;
  Index halo_rows_;
  MultiVector<double, HostSpace> values_;
  std::vector<Index> remote_row_;  // of each row in R, or −1
  std::vector<Index> reached_;     // marked rows whose neighbours are to be marked
};

}  // namespace

bool shows_no_null_vector(HostContext& context, const DistributedCsrView<double, HostSpace>& A) {
  Parts parts(context, A);
  if (!parts.regular({})) return false;
  const std::vector<double> roots = parts.roots_of_degrees();
  return context.processes()->any(!roots.empty()) ? parts.regular(roots) : true;
}

}  // namespace heddle
