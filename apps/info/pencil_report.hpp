#pragma once

#include <heddle/apps/info/matrix_report.hpp>
#include <optional>
#include <string>

namespace heddle::apps {

/// What a mass matrix M is like, and what it makes of K x = λ M x.
struct PencilReport {
  MatrixReport mass;
  bool diagonal = false;  ///< whether M has no other entries
  double sum = 0;         ///< of all entries of a real M
  Index massless = 0;     ///< rows of M without entries, each of an eigenvalue that is infinite
  Index first_massless = 0;
  Index empty = 0;  ///< massless rows that are empty in K, too: any λ is an eigenvalue then
  Index first_empty = 0;
  /// The smallest and the largest k_ii / m_ii. The smallest eigenvalue of a symmetric or Hermitian
  /// K and a positive definite M is at most the one, the largest at least the other. Not set if an
  /// m_ii is not positive, or if M has eigenvalues of both signs.
  std::optional<SpectrumEnds> quotients;
};

/// Inspects M, which has the name `name`, as the mass matrix of K. Throws `InvalidArgument`, naming
/// both, if K is not square or M is not of its order. `stiffness`: the name of K.
template <WideScalar W>
PencilReport inspect_pencil(HostContext& context, const std::string& stiffness,
                            CsrView<W, HostSpace> K, const std::string& name,
                            CsrView<W, HostSpace> M);

/// The reports as aligned text for a terminal: the matrix, the pencil, and what matters for
/// products if there are kernels. Rows and columns count from 1, as in Matrix Market files.
std::string to_text(const MatrixReport& report, const std::optional<PencilReport>& pencil = {});

/// The reports as an indented JSON document. Rows and columns count from 0. Numbers that are not
/// finite become null.
std::string to_json(const MatrixReport& report, const std::optional<PencilReport>& pencil = {});

}  // namespace heddle::apps
