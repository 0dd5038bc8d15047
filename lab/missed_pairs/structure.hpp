#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <vector>

#include "missed_pairs/draw.hpp"
#include "missed_pairs/spectra.hpp"

namespace heddle::lab {

/// A pencil A x = λ B x of parts side by side, whose smallest eigenvalues are known. The parts come
/// first. What follows keeps the eigenvalues, but for `shift`.
class Structure {
 public:
  /// `kept`: how many of the smallest eigenvalues of a grid are computed.
  explicit Structure(Index kept) : kept_(kept) {}

  void add_grid(const Grid& grid);
  /// k must be a number of few bits, and u of very few: the sums are then exact.
  void add_tied_grid(const Grid& grid, const Tie& tie);
  /// `B` without rows: I.
  void add_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B = {});
  /// A chain of `rows` springs of stiffness k that hangs on the ground at one end by a spring c.
  void add_chain(Index rows, double k, double c);

  /// Q A Qᵀ with a random orthogonal Q in `rows`, for B = I.
  void rotate(const std::vector<Index>& rows, Draw& draw);
  /// A − c B.
  void shift(double c);
  /// D A D, D B D, with a random power of 2 up to 2^`most` in D.
  void scale(int most, Draw& draw);
  /// A random order of the rows.
  void permute(Draw& draw);

  Index rows() const noexcept { return rows_; }
  bool pencil() const noexcept { return pencil_; }
  /// The first row of the first grid, which `rotate` must leave out for `guess`.
  const Grid& body() const noexcept { return grid_; }
  /// The eigenvalues that are known, ascending: more than `kept`.
  std::vector<Mode> modes() const;

  HostCsrMatrix<double> A(HostContext& context, double sign) const;
  HostCsrMatrix<double> B(HostContext& context) const;
  /// Eigenvectors of the pencil that belong to the modes `first` … of the first grid, row by row.
  std::vector<double> guess(Index first, Index count) const;

 private:
  void add_body(const Grid& grid);
  void add(Index i, Index j, double value);
  HostCsrMatrix<double> matrix(HostContext& context, const std::vector<Triplet<double>>& entries,
                               double sign) const;

  Index kept_;
  Index rows_ = 0;
  Grid grid_;              // the first one,
  Index grid_begin_ = -1;  // from this row on. -1: there is none
  bool pencil_ = false;
  std::vector<Triplet<double>> A_, B_;  // in the order of the parts, before scaling
  std::vector<int> powers_;             // of 2, for each row
  std::vector<Index> place_;            // of each row in the order of the matrix
  std::vector<Mode> modes_;
};

}  // namespace heddle::lab
