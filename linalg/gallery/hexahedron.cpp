#include <cmath>
#include <heddle/linalg/gallery/hexahedron.hpp>

namespace heddle::gallery {
namespace {

using Vector = std::array<double, 3>;

bool upper(std::size_t node, std::size_t direction) { return (node >> direction & 1) != 0; }

/// The gradient of node a's shape function, a product of t or 1 − t over the directions.
Vector shape_gradient(std::size_t node, const Vector& at) {
  Vector gradient{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t d = 0; d < 3; ++d) {
      const double slope = upper(node, d) ? 1 : -1;
      const double value = upper(node, d) ? at[d] : 1 - at[d];
      gradient[i] *= d == i ? slope : value;
    }
  }
  return gradient;
}

/// Adds weight·(λ ∂ᵢNₐ ∂ⱼN_b + μ ∂ⱼNₐ ∂ᵢN_b + μ δᵢⱼ ∇Nₐ·∇N_b) to the block of nodes a and b.
void add_strain_energy(std::size_t a, const Vector& grad_a, std::size_t b, const Vector& grad_b,
                       double lambda, double mu, double weight, HexahedronMatrix& K) {
  const double dot = grad_a[0] * grad_b[0] + grad_a[1] * grad_b[1] + grad_a[2] * grad_b[2];
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double dilation = lambda * (grad_a[i] * grad_b[j]);
      const double shear = mu * (grad_a[j] * grad_b[i] + (i == j ? dot : 0));
      K[3 * a + i][3 * b + j] += weight * (dilation + shear);
    }
  }
}

}  // namespace

HexahedronMatrix hexahedron_stiffness(double youngs_modulus, double poisson_ratio) {
  const double lambda =
      youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
  const double mu = youngs_modulus / (2 * (1 + poisson_ratio));
  const std::array<double, 2> gauss{0.5 - std::sqrt(3.0) / 6, 0.5 + std::sqrt(3.0) / 6};
  constexpr double kWeight = 1.0 / 8;
  HexahedronMatrix K{};
  for (std::size_t point = 0; point < 8; ++point) {
    const Vector at{gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2]};
    std::array<Vector, 8> gradients;
    for (std::size_t a = 0; a < 8; ++a) gradients[a] = shape_gradient(a, at);
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        add_strain_energy(a, gradients[a], b, gradients[b], lambda, mu, kWeight, K);
      }
    }
  }
  // Where a compiler contracts products and sums, K_pq and K_qp are rounded differently.
  for (std::size_t q = 0; q < K.size(); ++q) {
    for (std::size_t p = 0; p < q; ++p) K[q][p] = K[p][q];
  }
  return K;
}

HexahedronMatrix hexahedron_mass() {
  HexahedronMatrix M{};
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      double integral = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        integral *= upper(a, d) == upper(b, d) ? 1.0 / 3 : 1.0 / 6;
      }
      for (std::size_t i = 0; i < 3; ++i) M[3 * a + i][3 * b + i] = integral;
    }
  }
  return M;
}

}  // namespace heddle::gallery
