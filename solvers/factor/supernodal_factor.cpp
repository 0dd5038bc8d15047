#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/solvers/factor/dense_pivots.hpp>
#include <heddle/solvers/factor/supernodal_solve.hpp>
#include <heddle/solvers/factor/supernodes.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

using Dense = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstDense = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

/// Columns of a part of a dense product that one thread computes. Results do not depend on the
/// threads, as the parts are the same for any number of them.
constexpr Index kTile = 128;

/// Subtrees with at most this share of all work are factored side by side, one by each thread. The
/// threads share the products of each of the other supernodes.
constexpr double kShare = 1.0 / 24;

std::size_t size_of(Index count) { return static_cast<std::size_t>(count); }

Dense dense(double* data, Index rows, Index columns, Index ld) {
  return {data, rows, columns, Eigen::OuterStride<>(ld)};
}

/// Memory of a thread: the place of each row within the supernode at hand, and L D of its columns.
struct Workspace {
  std::vector<std::int32_t> place;
  std::vector<double> products;
};

class SupernodalFactor final : public SymmetricFactor<double> {
 public:
  SupernodalFactor(const CsrView<double, HostSpace>& lower, double max_bytes, int threads)
      : threads_(threads), structure_(find_supernodes(lower)) {
    const double bytes = sizeof(double) * (static_cast<double>(structure_.values) + most_updates());
    if (bytes > max_bytes) {
      throw OutOfMemory(static_cast<std::size_t>(bytes),
                        fmt::format("the factor of A - sigma B needs {:.0f} bytes, it may take "
                                    "{:.0f}",
                                    bytes, max_bytes));
    }
    list_entries(lower);
    divide_tree();
    try {
      L_.resize(size_of(structure_.values));
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(size_of(structure_.values) * sizeof(double),
                        "there was too little memory for the factor of A - sigma B");
    }
    updates_.resize(structure_.nodes.size());
    pivots_.resize(structure_.nodes.size());
    for (std::size_t s = 0; s < pivots_.size(); ++s) {
      pivots_[s].resize(size_of((structure_.nodes[s].columns + kPivotBlock - 1) / kPivotBlock));
    }
    work_.resize(size_of(std::max(threads_, 1)));
    for (Workspace& work : work_) work.place.resize(size_of(lower.rows));
  }

  std::optional<PivotSigns> factor(const double* lower_values) override {
    failed_ = false;
    parallel_for_in_turns(threads_, static_cast<Index>(subtrees_.size()),
                          [&](Index i, Index member) {
                            const auto [begin, end] = subtrees_[size_of(i)];
                            for (std::size_t s = begin; s < end; ++s) {
                              factor_node(s, lower_values, work_[size_of(member)], 1);
                            }
                          });
    for (const std::size_t s : top_) factor_node(s, lower_values, work_[0], threads_);
    if (failed_) throw OutOfMemory(0, "there was too little memory in the factorisation");
    PivotSigns signs;
    for (const std::vector<DensePivots>& blocks : pivots_) {
      for (const DensePivots& block : blocks) {
        signs.negative += block.negative;
        signs.proven = signs.proven && !block.replaced;
      }
    }
    return signs;
  }

  void solve(double* X, Index columns) override {
    solve_supernodal(structure_, L_.data(), pivots_, threads_, X, columns);
  }

  double entries() const noexcept override { return static_cast<double>(structure_.values); }

 private:
  /// The most numbers that updates hold at once, if one thread works.
  double most_updates() const {
    double now = 0, most = 0;
    std::vector<double> of_children(structure_.nodes.size(), 0);
    for (std::size_t s = 0; s < structure_.nodes.size(); ++s) {
      const Supernode& node = structure_.nodes[s];
      const double own = static_cast<double>(node.below) * static_cast<double>(node.below);
      now += own;
      most = std::max(most, now);
      now -= of_children[s];
      if (node.parent >= 0) of_children[size_of(node.parent)] += own;
    }
    return most;
  }

  /// Sets where the values of the lower triangle go.
  void list_entries(const CsrView<double, HostSpace>& lower) {
    const auto n = size_of(lower.rows);
    begins_.assign(n + 1, 0);
    const auto visit = [&](const auto& act) {
      for (Index i = 0; i < lower.rows; ++i) {
        for (std::int64_t k = lower.row_offsets[i]; k < lower.row_offsets[i + 1]; ++k) {
          const std::int32_t a = structure_.position[size_of(i)];
          const std::int32_t b = structure_.position[size_of(lower.columns[k])];
          act(std::max(a, b), std::min(a, b), k);
        }
      }
    };
    visit([&](std::int32_t, std::int32_t column, std::int64_t) { ++begins_[size_of(column) + 1]; });
    for (std::size_t j = 0; j < n; ++j) begins_[j + 1] += begins_[j];
    rows_.resize(size_of(lower.nnz));
    sources_.resize(size_of(lower.nnz));
    std::vector<std::int64_t> next(begins_.begin(), begins_.end() - 1);
    visit([&](std::int32_t row, std::int32_t column, std::int64_t k) {
      const auto at = size_of(next[size_of(column)]++);
      rows_[at] = row;
      sources_[at] = k;
    });
  }

  /// Sets the children of each supernode, and divides the tree. A subtree is a range of supernodes.
  void divide_tree() {
    const std::size_t count = structure_.nodes.size();
    children_.resize(count);
    std::vector<double> work(count, 0);
    std::vector<std::size_t> first(count);
    for (std::size_t s = 0; s < count; ++s) {
      const Supernode& node = structure_.nodes[s];
      const auto height = static_cast<double>(node.height());
      work[s] += static_cast<double>(node.columns) * height * height;
      first[s] = children_[s].empty() ? s : first[size_of(children_[s].front())];
      if (node.parent < 0) continue;
      children_[size_of(node.parent)].push_back(static_cast<std::int32_t>(s));
      work[size_of(node.parent)] += work[s];
    }
    double all = 0;
    for (std::size_t s = 0; s < count; ++s) {
      if (structure_.nodes[s].parent < 0) all += work[s];
    }
    for (std::size_t s = 0; s < count; ++s) {
      const Index parent = structure_.nodes[s].parent;
      if (work[s] > kShare * all) {
        top_.push_back(s);
      } else if (parent < 0 || work[size_of(parent)] > kShare * all) {
        subtrees_.push_back({first[s], s + 1});
      }
    }
  }

  void factor_node(std::size_t s, const double* values, Workspace& work, int threads) {
    if (failed_) return;
    try {
      assemble(s, values, work);
      eliminate(structure_.nodes[s], L_.data() + structure_.nodes[s].offset, pivots_[s],
                updates_[s], work, threads);
    } catch (const std::bad_alloc&) {
      failed_ = true;
    }
  }

  /// Sets the columns and the update of a supernode from the matrix and its children.
  void assemble(std::size_t s, const double* values, Workspace& work) {
    const Supernode& node = structure_.nodes[s];
    double* L = L_.data() + node.offset;
    std::fill_n(L, node.height() * node.columns, 0.0);
    std::vector<double>& update = updates_[s];
    update.assign(size_of(node.below * node.below), 0.0);
    for (Index r = 0; r < node.columns; ++r) {
      work.place[size_of(node.first + r)] = static_cast<std::int32_t>(r);
    }
    for (Index r = 0; r < node.below; ++r) {
      work.place[size_of(structure_.rows[size_of(node.rows_begin + r)])] =
          static_cast<std::int32_t>(node.columns + r);
    }
    for (Index j = 0; j < node.columns; ++j) {
      for (std::int64_t e = begins_[size_of(node.first + j)];
           e < begins_[size_of(node.first + j) + 1]; ++e) {
        L[j * node.height() + work.place[size_of(rows_[size_of(e)])]] +=
            values[sources_[size_of(e)]];
      }
    }
    for (const std::int32_t child : children_[s]) add_update(size_of(child), node, L, update, work);
  }

  /// Adds the update of a child to its parent, and frees it.
  void add_update(std::size_t child, const Supernode& node, double* L, std::vector<double>& update,
                  const Workspace& work) {
    const Supernode& below = structure_.nodes[child];
    std::vector<double>& from = updates_[child];
    const std::int32_t* rows = structure_.rows.data() + below.rows_begin;
    for (Index j = 0; j < below.below; ++j) {
      const Index column = work.place[size_of(rows[j])];
      double* target = column < node.columns
                           ? L + column * node.height()
                           : update.data() + (column - node.columns) * node.below - node.columns;
      const double* source = from.data() + j * below.below;
      for (Index i = j; i < below.below; ++i) target[work.place[size_of(rows[i])]] += source[i];
    }
    std::vector<double>().swap(from);
  }

  /// L D Lᵀ in the columns of a supernode, whose products are subtracted from the update.
  static void eliminate(const Supernode& node, double* L, std::vector<DensePivots>& blocks,
                        std::vector<double>& update, Workspace& work, int threads) {
    const Index height = node.height(), columns = node.columns;
    work.products.resize(size_of(height * columns));
    for (Index k = 0; k < columns; k += kPivotBlock) {
      const Index width = std::min(kPivotBlock, columns - k), end = k + width;
      DensePivots& pivots = blocks[size_of(k / kPivotBlock)];
      factor_dense(L + k * height + k, width, height, pivots);
      divide_below(node, L, k, width, pivots, work.products.data());
      const Index rest = columns - end;
      parallel_for_in_turns(threads, (rest + kTile - 1) / kTile, [&](Index tile) {
        const Index from = end + tile * kTile, count = std::min(kTile, columns - from);
        dense(L + from * height + from, height - from, count, height).noalias() -=
            dense(L + k * height + from, height - from, width, height) *
            dense(work.products.data() + k * height + from, count, width, height).transpose();
      });
    }
    parallel_for_in_turns(threads, (node.below + kTile - 1) / kTile, [&](Index tile) {
      const Index from = tile * kTile, count = std::min(kTile, node.below - from);
      dense(update.data() + from * node.below + from, node.below - from, count, node.below)
          .noalias() -=
          dense(L + columns + from, node.below - from, columns, height) *
          dense(work.products.data() + columns + from, count, columns, height).transpose();
    });
  }

  /// From the rows R below a block of pivots: `products` ← R Pᵀ L⁻ᵀ, and L ← that times D⁻¹.
  static void divide_below(const Supernode& node, double* L, Index k, Index width,
                           const DensePivots& pivots, double* products) {
    const Index height = node.height(), end = k + width, below = height - end;
    if (below == 0) return;
    const Dense R = dense(L + k * height + end, below, width, height);
    Dense V = dense(products + k * height + end, below, width, height);
    for (Index j = 0; j < width; ++j) V.col(j) = R.col(pivots.from[j]);
    const Dense own = dense(L + k * height + k, width, width, height);
    own.triangularView<Eigen::UnitLower>().transpose().solveInPlace<Eigen::OnTheRight>(V);
    Dense target = dense(L + k * height + end, below, width, height);
    for (Index j = 0; j < width; ++j) {
      if (pivots.below[j] == 0) {
        target.col(j) = V.col(j) / pivots.diagonal[j];
        continue;
      }
      const double a = pivots.diagonal[j], b = pivots.below[j], d = pivots.diagonal[j + 1];
      const double determinant = a * d - b * b;
      target.col(j) = (d * V.col(j) - b * V.col(j + 1)) / determinant;
      target.col(j + 1) = (a * V.col(j + 1) - b * V.col(j)) / determinant;
      ++j;
    }
  }

  int threads_;
  Supernodes structure_;
  std::vector<std::int64_t> begins_;  // of the columns of the permuted lower triangle
  std::vector<std::int32_t> rows_;
  std::vector<std::int64_t> sources_;  // of their values
  std::vector<std::vector<std::int32_t>> children_;
  std::vector<std::pair<std::size_t, std::size_t>> subtrees_;  // begin and end
  std::vector<std::size_t> top_;                               // supernodes in no subtree
  std::vector<double> L_;
  std::vector<std::vector<double>> updates_;
  std::vector<std::vector<DensePivots>> pivots_;
  std::vector<Workspace> work_;
  std::atomic<bool> failed_ = false;
};

}  // namespace

std::unique_ptr<SymmetricFactor<double>> supernodal_factor(const CsrView<double, HostSpace>& lower,
                                                           double max_bytes, int threads) {
  return std::make_unique<SupernodalFactor>(lower, max_bytes, threads);
}

}  // namespace heddle::detail
