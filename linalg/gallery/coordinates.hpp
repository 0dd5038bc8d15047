#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>

namespace heddle {

/// The positions of the nodes of a generated elastic body, nodes×3, in units of an edge of its
/// cubes: row i has the position of the node with the unknowns 3i, 3i + 1 and 3i + 2. 0×0 for other
/// structures. `window`: the nodes whose positions are made. Throws as `generate` does.
MultiVector<double, HostSpace> node_coordinates(HostContext& context, const GallerySpec& spec,
                                                const RowWindow& window = {});

}  // namespace heddle
