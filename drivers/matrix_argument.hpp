#pragma once

#include <heddle/linalg/gallery/gallery.hpp>
#include <string>

/// Matrices named on a command line.
namespace heddle::detail {

/// The structure that "NAME:SIZE,SIZE,…" or "NAME:SIZE,…:DENSITY" describes, e.g.
/// "laplace3d:64,64,64" or "rmat:16:8"; "64x64x64" does as well. Whether there is such a structure
/// is for `generate` to say. Throws `InvalidArgument` for sizes or a density that are not numbers.
GallerySpec parse_generator(const std::string& argument);

/// The matrix that `argument` names: a Matrix Market file if there is one of that name, else a
/// structure as above if it has a colon or is called like one. Throws what `read_matrix_market`,
/// `parse_generator` and `generate` throw.
HostCsrMatrix<double> load_matrix(HostContext& context, const std::string& argument);

}  // namespace heddle::detail
