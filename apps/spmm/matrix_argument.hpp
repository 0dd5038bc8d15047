#pragma once

#include <heddle/linalg/gallery.hpp>
#include <optional>
#include <string>

namespace heddle::apps {

/// A generated matrix written as NAME:SIZExSIZE…[:DENSITY], e.g. "laplace3d:160x160x160" or
/// "rmat:20:16"; empty if NAME is no structure of the gallery (then it is a file). Throws
/// `InvalidArgument` for sizes or a density that are not numbers.
std::optional<GallerySpec> parse_generator(const std::string& argument);

/// The matrix that `argument` names: a generator as above, else a Matrix Market file. Throws what
/// `generate` and `read_matrix_market` throw.
HostCsrMatrix<double> load_matrix(HostContext& context, const std::string& argument);

}  // namespace heddle::apps
