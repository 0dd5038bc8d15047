#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Generated problems with known answers and the structures that users meet.
namespace heddle {

/// What to generate: a structure's name and its parameters.
struct GallerySpec {
  std::string name;
  std::vector<Index> size;  ///< meaning by structure; see `gallery_structures`
  double density =
      0;  ///< structures with a mean row length or edge factor: that number; 0 for their default
  std::uint64_t seed = 42;  ///< random structures only
};

/// One structure that `generate` knows.
struct GalleryStructure {
  std::string_view name;
  std::string_view size;         ///< what `size` holds, e.g. "[nx, ny, nz]"
  std::string_view density;      ///< what `density` means, empty if unused
  double default_density;        ///< what `density` is when the spec leaves it 0
  std::string_view description;  ///< one line: equation, spectrum, source
};

/// All structures, in a fixed order: laplace1d, laplace2d, laplace3d, stencil27, elasticity3d
/// (stiffness), elasticity3d_mass, wathen, trefethen, mikota_stiffness, mikota_mass,
/// random_uniform, random_symmetric, rmat, random_geometric, lattice4d, band. All but
/// random_uniform are symmetric; all but random_uniform and the two graphs (rmat,
/// random_geometric) are positive definite.
const std::vector<GalleryStructure>& gallery_structures();

/// The matrix that `spec` describes; the same bits for the same spec, whatever the threads.
/// Throws `InvalidArgument` for an unknown name (naming the nearest known one), a wrong number of
/// sizes, sizes that are too small or give more rows than 32-bit column indices can name, and a
/// density that is negative, not finite, not meant for the structure or more than its rows can
/// hold; `OutOfMemory` where memory ends.
template <Scalar T>
HostCsrMatrix<T> generate(HostContext& context, const GallerySpec& spec);

/// The `count` smallest eigenvalues, ascending, multiplicities repeated, of the Dirichlet Laplacian
/// with 2 a dimension on the diagonal and −1 off it on a grid of the given sizes (1 to 3
/// dimensions): λ = Σ_d 4 sin²(π j_d / (2(n_d + 1))). Throws `InvalidArgument` for other numbers
/// of dimensions, sizes below 1 and counts that are negative or more than there are.
std::vector<double> laplace_smallest_eigenvalues(const std::vector<Index>& size, Index count);

/// The `count` largest, descending.
std::vector<double> laplace_largest_eigenvalues(const std::vector<Index>& size, Index count);

}  // namespace heddle
