#pragma once

#include <Eigen/Core>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <vector>

/// Eigenvalues of the parts of which the problems consist, in closed form or by dense solves in
/// long double.
namespace heddle::lab {

/// An eigenvalue, and how far that of the stored matrix may be from it.
struct Mode {
  double value;
  double error;
};

/// A grid in 1 to 3 dimensions of springs of one stiffness. Both ends of a dimension are held, or
/// none.
struct Grid {
  std::vector<Index> size;
  std::vector<bool> held;
  double stiffness = 1;

  Index rows() const;
};

/// A term k uuᵀ with entries of u in some rows.
struct Tie {
  std::vector<Index> rows;
  std::vector<double> u;
  double k = 0;
};

/// The `count` smallest eigenvalues of a grid, ascending.
std::vector<Mode> grid_modes(const Grid& grid, Index count);

/// Those of a grid and a tie: the roots of 1 + k Σ_j (q_jᵀu)²/(λ_j − λ) between the eigenvalues λ_j
/// of the grid with the eigenvectors q_j.
std::vector<Mode> tied_grid_modes(const Grid& grid, const Tie& tie, Index count);

/// The eigenvectors of the eigenvalues `first` … `first` + `count` − 1 of a grid, as columns.
Eigen::MatrixXd grid_vectors(const Grid& grid, Index first, Index count);

/// All eigenvalues of a small symmetric A, or of a pencil if B has rows.
std::vector<Mode> dense_modes(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// All eigenvalues of a tridiagonal matrix.
std::vector<Mode> chain_modes(const std::vector<double>& diagonal,
                              const std::vector<double>& beside);

}  // namespace heddle::lab
