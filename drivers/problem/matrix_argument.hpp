#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <string>
#include <string_view>

/// Matrices named on a command line.
namespace heddle::detail {

/// Parses "NAME:SIZE,SIZE,…" or "NAME:SIZE,…:DENSITY", for example "laplace3d:64,64,64" or
/// "rmat:16:8". Sizes may also be separated by "x", as in "64x64x64". NAME is not checked here but
/// by `generate`. Throws `InvalidArgument` for sizes or a density that are not numbers.
GallerySpec parse_generator(const std::string& argument);

/// The prefix of names of matrices of the SuiteSparse Matrix Collection.
inline constexpr std::string_view kCollectionPrefix = "SuiteSparse:";

/// Whether `argument` begins with `kCollectionPrefix`, in upper or lower case.
bool names_collection_matrix(std::string_view argument);

/// Whether `argument` names a generated matrix: it is no existing file and no matrix of the
/// collection, and it contains a colon or is the name of a generator.
bool names_generator(const std::string& argument);

/// The matrix that `argument` names: a generated one if `names_generator`, else a file.
/// Throws as `read_matrix`, `parse_generator` and `generate` do.
template <Scalar T = double>
HostCsrMatrix<T> load_matrix(HostContext& context, const std::string& argument,
                             FirstLine first_line = FirstLine::automatic);

}  // namespace heddle::detail
