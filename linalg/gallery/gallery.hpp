#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Generated test matrices: problems with known eigenvalues, and the sparsity structures of common
/// applications.
namespace heddle {

/// The description of a generated matrix: a structure's name and its parameters.
struct GallerySpec {
  std::string name;
  std::vector<Index> size;  ///< meaning by structure; see `gallery_structures`
  double density =
      0;  ///< structures with a mean row length or edge factor: that number; 0 for their default
  std::uint64_t seed = 42;  ///< random structures only
};

/// Rows first … last − 1 of something, all of them by default.
struct RowWindow {
  Index first = 0;                                 ///< the first row, 0-based
  Index last = std::numeric_limits<Index>::max();  ///< the row after the last one

  Index rows() const noexcept { return last - first; }

  /// The same rows where there are `count` of them: `last` is at most `count`. Throws
  /// `InvalidArgument` unless 0 ≤ first ≤ last.
  RowWindow of(Index count) const;
};

/// A structure that `generate` can build.
struct GalleryStructure {
  std::string_view name;
  std::string_view size;          ///< the sizes that `size` lists, e.g. "[nx, ny, nz]"
  std::string_view density;       ///< the meaning of `density`, empty if unused
  double default_density;         ///< the density used where the spec leaves it 0
  std::string_view description;   ///< one line: equation, spectrum, source
  bool positive_definite = true;  ///< symmetric (Hermitian) positive definite for all specs
  Index unknowns = 1;             ///< of a node, in neighbouring rows
  bool complex = false;           ///< Hermitian with complex entries, else real
};

/// All structures, in a fixed order: laplace1d, laplace2d, laplace3d, stencil27, elasticity3d
/// (stiffness), elasticity3d_mass, wathen, trefethen, mikota_stiffness, mikota_mass, column,
/// column_geometric, random_uniform, random_symmetric, rmat, random_geometric, lattice4d, band, and
/// the complex ones: peierls2d, peierls3d, random_flux3d, ring_flux, haldane, random_hermitian. All
/// but random_uniform are symmetric, or Hermitian. All but random_uniform, column_geometric, the
/// two graphs (rmat, random_geometric), ring_flux, which may be singular, and haldane are positive
/// definite.
const std::vector<GalleryStructure>& gallery_structures();

/// Whether `name` is a structure with complex entries.
bool is_complex_structure(std::string_view name);

/// The rows in `window` of the matrix that `spec` describes, with all columns. Equal specs give the
/// same bits for every number of threads and for every window that contains a row. Only the rows of
/// the window are in memory, and in addition 8 bytes per row of the whole matrix for trefethen and
/// 16 for random_geometric. Time is that of the rows of the window, but random_symmetric,
/// random_hermitian and rmat draw all edges and random_geometric all points. A complex T takes real
/// structures, too, with imaginary parts of 0. Throws `InvalidArgument` for a complex structure if
/// T is real, for an unknown name (with the most similar known one), for a wrong number of sizes,
/// for sizes that are too small or give more rows than 32-bit column indices can address, and for a
/// density that is negative, not finite, unused by the structure or larger than its rows can hold.
/// Throws `OutOfMemory`.
template <Scalar T>
HostCsrMatrix<T> generate(HostContext& context, const GallerySpec& spec,
                          const RowWindow& window = {});

/// The `count` smallest eigenvalues, ascending and repeated by multiplicity, of the Dirichlet
/// Laplacian on a grid of the given sizes in 1 to 3 dimensions: λ = Σ_d 4 sin²(π j_d / (2(n_d +
/// 1))). The matrix has 2·(number of dimensions) on the diagonal and −1 for each grid neighbour.
/// Throws `InvalidArgument` for any other number of dimensions, for sizes below 1, and for a count
/// that is negative or exceeds the order.
std::vector<double> laplace_smallest_eigenvalues(const std::vector<Index>& size, Index count);

/// The `count` largest eigenvalues of the same matrix, descending.
std::vector<double> laplace_largest_eigenvalues(const std::vector<Index>& size, Index count);

/// The positions of the nodes of a generated elastic body, nodes×3, in units of an edge of its
/// cubes: row i has the position of the node with the unknowns 3i, 3i + 1 and 3i + 2. 0×0 for other
/// structures. `window`: the nodes whose positions are made. Throws as `generate` does.
MultiVector<double, HostSpace> node_coordinates(HostContext& context, const GallerySpec& spec,
                                                const RowWindow& window = {});

}  // namespace heddle
