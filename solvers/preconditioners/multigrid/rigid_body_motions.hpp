#pragma once

#include <heddle/linalg/data/multivector.hpp>

namespace heddle {

/// The rigid body motions of an elastic body as vectors of its unknowns, n×3 in the plane, n×6 in
/// space: `MultigridOptions::near_null` for a stiffness matrix. `coordinates` (nodes×d, d = 2 or 3)
/// has the position of each node, in any unit. `unknowns`, per node and numbered node by node, are
///
///     d                  displacements u: translations, and rotations ω × x
///     3 if d = 2         displacements and the angle of the cross section (beams)
///     6 if d = 3         displacements and the three angles (beams, shells)
///
/// Positions are taken relative to their mean, and scaled to a largest size of 1, which changes the
/// vectors but not their span. Columns: the translations, then the rotation of the plane, or those
/// about x, y and z. Throws `InvalidArgument` for other numbers of coordinates or unknowns.
MultiVector<double, HostSpace> rigid_body_motions(HostContext& context,
                                                  ConstBlockView<double, HostSpace> coordinates,
                                                  Index unknowns);

}  // namespace heddle
