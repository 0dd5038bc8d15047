#pragma once

#include <array>
#include <cstddef>

/// Element matrices of linear elasticity on the unit cube with trilinear shape functions. The bits
/// of a node's number a are its coordinates: x = a & 1, y = a >> 1 & 1, z = a >> 2. Its
/// displacement in direction i is unknown 3a + i.
namespace heddle::gallery {

/// A 24×24 element matrix, indexed [row][column].
using HexahedronMatrix = std::array<std::array<double, 24>, 24>;

/// K = ∫ ε(u)ᵀ D ε(v) for an isotropic material with Young's modulus E and Poisson's ratio ν,
/// by 2×2×2 Gauss points, which integrate it exactly. Symmetric to the bit.
/// Source: Hughes, The Finite Element Method, 1987, sections 2.7 and 3.8.
HexahedronMatrix hexahedron_stiffness(double youngs_modulus, double poisson_ratio);

/// M = ∫ u·v, the consistent mass matrix for density 1.
HexahedronMatrix hexahedron_mass();

}  // namespace heddle::gallery
