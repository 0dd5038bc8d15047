#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/sparse/repeated_rows.hpp>
#include <heddle/spgemm/host/column_set.hpp>
#include <heddle/spgemm/plan/plan_members.hpp>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace heddle {
namespace detail {

/// Rows of a product are dealt out in pieces of about equal work.
template <>
struct ProductSchedule<HostSpace> {
  std::vector<Index> row_offsets;   ///< of C
  std::vector<Index> piece_begins;  ///< the first row of each piece, and the number of rows
  /// Whether a row of A or B has the columns of the row before it, as the rows of a node have.
  Buffer<std::uint8_t, HostSpace> repeats_in_A, repeats_in_B;
};

namespace {

/// Enough pieces for threads to finish together, and not more than are worth dealing out.
constexpr Index kPieces = 256;
constexpr Index kLeastWork = 4096;

/// The cost of a row in addition to its multiplications, in multiplications.
constexpr Index kRowWork = 8;

template <class T>
Index row_products(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B, Index i) {
  Index products = 0;
  for (Index a = A.row_offsets[i]; a < A.row_offsets[i + 1]; ++a) {
    products += B.row_offsets[A.columns[a] + 1] - B.row_offsets[A.columns[a]];
  }
  return products;
}

/// Boundaries of at most `kPieces` pieces. `work` holds the sums of the rows' work before each row.
std::vector<Index> equal_pieces(const Buffer<Index, HostSpace>& work) {
  const Index rows = static_cast<Index>(work.size()) - 1;
  const Index total = work.data()[rows];
  const Index pieces = std::clamp<Index>(total / kLeastWork, 1, kPieces);
  std::vector<Index> begins;
  for (Index p = 0; p < pieces; ++p) {
    const Index* const end = work.data() + work.size();
    begins.push_back(std::lower_bound(work.data(), end, total / pieces * p) - work.data());
  }
  begins.push_back(rows);
  return begins;
}

/// Calls body(row, member, begins) for all rows of all pieces. `begins`: whether the row is the
/// first of its piece. The rows before it in its piece have been visited by the same member.
template <class Body>
void for_each_piece(HostContext& context, const std::vector<Index>& begins, const Body& body) {
  const Index pieces = static_cast<Index>(begins.size()) - 1;
  const int threads = pieces == 1 ? 1 : context.threads();
  parallel_for(threads, pieces, [&](Index piece, int member) {
    const auto p = static_cast<std::size_t>(piece);
    for (Index i = begins[p]; i < begins[p + 1]; ++i) {
      body(i, static_cast<std::size_t>(member), i == begins[p]);
    }
  });
}

/// Calls visit(a, known) for the entries of row i of A, in their order. `known`: the row of B that
/// the entry is multiplied by has the columns of the one before.
template <class T, class Visit>
void for_each_factor(const CsrView<T, HostSpace>& A, const ProductSchedule<HostSpace>& schedule,
                     Index i, const Visit& visit) {
  Index before = -1;
  const Index end = A.row_offsets[i + 1];
  for (Index a = A.row_offsets[i]; a < end; ++a) {
    const Index k = A.columns[a];
    visit(a, before == k - 1 && schedule.repeats_in_B[static_cast<std::size_t>(k)] != 0);
    before = k;
  }
}

/// Inserts the columns of row i of A B.
template <class T>
void insert_row(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B,
                const ProductSchedule<HostSpace>& schedule, Index i, ColumnSet& set) {
  ColumnSet::Inserter insert = set.begin_insertion();
  for_each_factor(A, schedule, i, [&](Index a, bool known) {
    if (known) return;
    const Index k = A.columns[a];
    for (Index b = B.row_offsets[k]; b < B.row_offsets[k + 1]; ++b) insert(B.columns[b]);
  });
  set.end_insertion(insert);
}

/// The threads that work on the pieces.
int members_for(const HostContext& context, const std::vector<Index>& piece_begins) {
  const auto pieces = std::max<Index>(std::ssize(piece_begins) - 1, 1);
  return static_cast<int>(std::min<Index>(std::max(context.threads(), 1), pieces));
}

std::vector<ColumnSet> sets_for(int members, Index cols) {
  std::vector<ColumnSet> sets;
  for (int member = 0; member < members; ++member) sets.emplace_back(cols);
  return sets;
}

/// A schedule without its row offsets. `multiplications` ← those of the product.
template <class T>
ProductSchedule<HostSpace> deal_out(HostContext& context, const CsrView<T, HostSpace>& A,
                                    const CsrView<T, HostSpace>& B, Index& multiplications) {
  const auto rows = static_cast<std::size_t>(A.rows);
  Buffer<Index, HostSpace> work(context, rows + 1);
  work[0] = 0;
  parallel_for(team_size(context.threads(), stored_bytes(A), 0), A.rows, [&](Index i) {
    work[static_cast<std::size_t>(i) + 1] = row_products(A, B, i) + kRowWork;
  });
  for (std::size_t i = 0; i < rows; ++i) work[i + 1] += work[i];
  multiplications = work[rows] - kRowWork * A.rows;
  return {.row_offsets = {},
          .piece_begins = equal_pieces(work),
          .repeats_in_A = repeated_rows(context, A),
          .repeats_in_B = repeated_rows(context, B)};
}

/// Rows of C as one thread computes them: a dense row of sums, of which only the entries of the
/// current row of C are ever not 0.
template <class T>
class RowSums {
 public:
  explicit RowSums(Index cols) : sums_(static_cast<std::size_t>(cols)) {}

  /// Adds the terms of row i of A B, k by k.
  void add_row(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B, Index i) {
    for_each_term(A, B, i, [](std::int32_t, const T&) {});
  }

  /// The same, and inserts their columns.
  void add_row(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B, Index i,
               ColumnSet& set) {
    columns_.resize(std::max(columns_.size(), static_cast<std::size_t>(row_products(A, B, i)) + 1));
    std::int32_t* const columns = columns_.data();
    Index count = 0;
    for_each_term(A, B, i, [&](std::int32_t column, const T& sum) {
      columns[count] = column;  // without a branch
      count += sum == T{0} ? 1 : 0;
    });
    set.insert(columns, count);
  }

  /// Writes the sums of the columns of a row and sets them to 0.
  void take(const std::int32_t* columns, Index count, T* values) {
    for (Index c = 0; c < count; ++c) {
      values[c] = std::exchange(sums_[static_cast<std::size_t>(columns[c])], T{0});
    }
  }

 private:
  /// Calls visit(column, sum of the terms before) for the terms of row i, and adds them.
  template <class Visit>
  void for_each_term(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B, Index i,
                     const Visit& visit) {
    T* const sums = sums_.data();
    for (Index a = A.row_offsets[i]; a < A.row_offsets[i + 1]; ++a) {
      const Index k = A.columns[a];
      const T factor = A.values[a];
      const Index end = B.row_offsets[k + 1];
      for (Index b = B.row_offsets[k]; b < end; ++b) {
        const std::int32_t column = B.columns[b];
        const T sum = sums[column];
        visit(column, sum);
        sums[column] = sum + factor * B.values[b];
      }
    }
  }

  std::vector<T> sums_;
  std::vector<std::int32_t> columns_;  // whose sums were 0 when a term was added
};

/// Rows of C in the order of their numbers, in memory of their own or in `RowMemory`.
template <class T>
struct ComputedRows {
  Buffer<std::byte, HostSpace> own;
  Index entries = 0;
  T* values = nullptr;
  std::int32_t* columns = nullptr;
};

/// Memory of the context for the rows that all threads compute. Small results share pieces of
/// 1 MiB, larger ones have memory of their own.
template <class T>
class RowMemory {
 public:
  explicit RowMemory(HostContext& context) : context_(context) {}

  /// Memory for this many entries.
  ComputedRows<T> rows(Index entries) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    constexpr std::size_t kCacheLine = 64;
    const std::size_t values = static_cast<std::size_t>(entries) * sizeof(T);
    const std::size_t bytes = values + static_cast<std::size_t>(entries) * sizeof(std::int32_t);
    const auto in = [&](std::byte* place, Buffer<std::byte, HostSpace> own) {
      return ComputedRows<T>{std::move(own), entries, reinterpret_cast<T*>(place),
                             reinterpret_cast<std::int32_t*>(place + values)};
    };
    const std::lock_guard lock(mutex_);
    if (bytes > kPiece / 4) {
      Buffer<std::byte, HostSpace> own(context_, bytes);
      std::byte* const place = own.data();
      return in(place, std::move(own));
    }
    if (pieces_.empty() || kPiece - used_ < bytes) {
      pieces_.emplace_back(context_, kPiece);
      used_ = 0;
    }
    std::byte* const place = pieces_.back().data() + used_;
    used_ = std::min(used_ + (bytes + kCacheLine - 1) / kCacheLine * kCacheLine, kPiece);
    return in(place, {});
  }

 private:
  HostContext& context_;
  std::mutex mutex_;
  std::vector<Buffer<std::byte, HostSpace>> pieces_;
  std::size_t used_ = 0;  // bytes of the last piece
};

/// Computes the rows of C piece by piece, both columns and values. One per thread.
template <class T>
class RowMultiplier {
 public:
  RowMultiplier(RowMemory<T>& memory, const CsrView<T, HostSpace>& A,
                const CsrView<T, HostSpace>& B, const ProductSchedule<HostSpace>& schedule)
      : memory_(memory), A_(A), B_(B), schedule_(schedule), set_(B.cols), sums_(B.cols) {}

  /// The rows first … end − 1. lengths[i] ← the entries of row i.
  ComputedRows<T> compute(Index first, Index end, Index* lengths) {
    Index place = 0;
    for (Index i = first; i < end; ++i) {
      if (i > first && schedule_.repeats_in_A[static_cast<std::size_t>(i)] != 0) {
        const Index length = lengths[i] = lengths[i - 1];
        reserve(place + length);
        std::copy_n(columns_.begin() + place - length, length, columns_.begin() + place);
        sums_.add_row(A_, B_, i);
      } else {
        sums_.add_row(A_, B_, i, set_);
        reserve(place + std::min(row_products(A_, B_, i), B_.cols));
        lengths[i] = set_.take_columns(columns_.data() + place);
      }
      sums_.take(columns_.data() + place, lengths[i], values_.data() + place);
      place += lengths[i];
    }
    ComputedRows<T> computed = memory_.rows(place);
    std::copy_n(columns_.data(), place, computed.columns);
    std::copy_n(values_.data(), place, computed.values);
    return computed;
  }

 private:
  void reserve(Index entries) {
    const auto wanted = static_cast<std::size_t>(entries);
    if (wanted <= columns_.size()) return;
    columns_.resize(2 * wanted);
    values_.resize(2 * wanted);
  }

  RowMemory<T>& memory_;
  const CsrView<T, HostSpace>& A_;
  const CsrView<T, HostSpace>& B_;
  const ProductSchedule<HostSpace>& schedule_;
  ColumnSet set_;
  RowSums<T> sums_;
  std::vector<std::int32_t> columns_;  // of the current piece, memory that all pieces use
  std::vector<T> values_;
};

}  // namespace

template <Scalar T>
std::shared_ptr<const ProductSchedule<HostSpace>> inspect_product(HostContext& context,
                                                                  CsrView<T, HostSpace> A,
                                                                  CsrView<T, HostSpace> B,
                                                                  SpgemmCounts& counts) {
  auto schedule =
      std::make_shared<ProductSchedule<HostSpace>>(deal_out(context, A, B, counts.multiplications));
  std::vector<Index>& offsets = schedule->row_offsets;
  offsets.resize(static_cast<std::size_t>(A.rows) + 1);
  std::vector<ColumnSet> sets = sets_for(members_for(context, schedule->piece_begins), B.cols);
  for_each_piece(context, schedule->piece_begins, [&](Index i, std::size_t member, bool begins) {
    const auto row = static_cast<std::size_t>(i);
    if (!begins && schedule->repeats_in_A[row] != 0) {
      offsets[row + 1] = offsets[row];
      return;
    }
    insert_row(A, B, *schedule, i, sets[member]);
    offsets[row + 1] = sets[member].take_size();
  });
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  counts.nnz = offsets.back();
  return schedule;
}

void fetch_offsets(HostContext&, const ProductSchedule<HostSpace>& schedule, Index* row_offsets) {
  std::copy(schedule.row_offsets.begin(), schedule.row_offsets.end(), row_offsets);
}

template <Scalar T>
void fill_pattern(HostContext& context, const ProductSchedule<HostSpace>& schedule,
                  CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const ProductArrays<T>& C) {
  std::copy(schedule.row_offsets.begin(), schedule.row_offsets.end(), C.row_offsets);
  std::vector<ColumnSet> sets = sets_for(members_for(context, schedule.piece_begins), B.cols);
  for_each_piece(context, schedule.piece_begins, [&](Index i, std::size_t member, bool begins) {
    std::int32_t* const columns = C.columns + C.row_offsets[i];
    if (!begins && schedule.repeats_in_A[static_cast<std::size_t>(i)] != 0) {
      const Index length = C.row_offsets[i + 1] - C.row_offsets[i];
      std::copy_n(columns - length, length, columns);
      return;
    }
    insert_row(A, B, schedule, i, sets[member]);
    sets[member].take_columns(columns);
  });
}

template <Scalar T>
void compute_values(HostContext& context, const ProductSchedule<HostSpace>& schedule,
                    CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const ProductArrays<T>& C,
                    bool /*with_columns*/) {
  const auto members = static_cast<std::size_t>(members_for(context, schedule.piece_begins));
  // Each thread makes its own, so that none waits for all of them.
  std::vector<std::optional<RowSums<T>>> sums(members);
  for_each_piece(context, schedule.piece_begins, [&](Index i, std::size_t member, bool) {
    if (!sums[member]) sums[member].emplace(B.cols);
    sums[member]->add_row(A, B, i);
    const Index begin = C.row_offsets[i];
    sums[member]->take(C.columns + begin, C.row_offsets[i + 1] - begin, C.values + begin);
  });
}

}  // namespace detail

template <Scalar T>
HostCsrMatrix<T> spgemm(HostContext& context, CsrView<T, HostSpace> A, CsrView<T, HostSpace> B) {
  detail::require_factors(A, B);
  Index multiplications = 0;
  const detail::ProductSchedule<HostSpace> schedule =
      detail::deal_out(context, A, B, multiplications);
  const std::vector<Index>& begins = schedule.piece_begins;
  const Index pieces = std::ssize(begins) - 1;
  const int members = detail::members_for(context, begins);
  Buffer<Index, HostSpace> lengths(context, static_cast<std::size_t>(A.rows));
  std::vector<detail::ComputedRows<T>> computed(static_cast<std::size_t>(pieces));
  detail::RowMemory<T> memory(context);
  std::vector<std::optional<detail::RowMultiplier<T>>> multipliers(
      static_cast<std::size_t>(members));
  parallel_for(members, pieces, [&](Index piece, int member) {
    const auto p = static_cast<std::size_t>(piece);
    auto& multiplier = multipliers[static_cast<std::size_t>(member)];
    if (!multiplier) multiplier.emplace(memory, A, B, schedule);
    computed[p] = multiplier->compute(begins[p], begins[p + 1], lengths.data());
  });
  Index nnz = 0;
  for (const auto& rows : computed) nnz += rows.entries;
  HostCsrMatrix<T> C(context, A.rows, B.cols, nnz);
  C.row_offsets()[0] = 0;
  std::partial_sum(lengths.data(), lengths.data() + A.rows, C.row_offsets() + 1);
  parallel_for(members, pieces, [&](Index piece) {
    const auto p = static_cast<std::size_t>(piece);
    const Index begin = C.row_offsets()[begins[p]];
    std::copy_n(computed[p].columns, computed[p].entries, C.columns() + begin);
    std::copy_n(computed[p].values, computed[p].entries, C.values() + begin);
    computed[p].own = {};
  });
  context.profile().count(
      detail::stored_bytes(A) + detail::stored_bytes(B) + detail::stored_bytes(C.view()),
      2 * static_cast<double>(multiplications));
  return C;
}

#define HEDDLE_INSTANTIATE(T)                \
  template class SpgemmPlan<T, HostContext>; \
  template HostCsrMatrix<T> spgemm(HostContext&, CsrView<T, HostSpace>, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
