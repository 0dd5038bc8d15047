#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/linalg/csr_matrix.hpp>
#include <heddle/linalg/multivector.hpp>
#include <optional>

/// The matrices and blocks that a configuration names: loaded or generated, transformed, checked.
namespace heddle::apps {

/// What an eigensolver works on, in host memory: A x = λ B x, A symmetric of order n.
template <Scalar T>
struct EigenInput {
  HostCsrMatrix<T> A;
  std::optional<HostCsrMatrix<T>> B;        ///< none: B = I
  MultiVector<T, HostSpace> constraints;    ///< n×c, c = 0 if there are none
  MultiVector<T, HostSpace> initial_guess;  ///< n×g, g = 0 if there is none

  Index order() const noexcept { return A.rows(); }
  Index nnz() const noexcept { return A.nnz(); }
  /// Bytes of the matrices and blocks.
  double bytes() const noexcept;
};

/// Loads, transforms and checks what `config` names. Throws `InputError` naming the file for one
/// that cannot be read or does not fit: A not square or not symmetric, B of another order or shown
/// not to be positive definite by a diagonal entry or a 2×2 principal minor, blocks of other
/// length. Throws `ConfigError` where the configuration is to blame: nev too large for the order, a
/// structure that cannot be generated or used.
EigenInput<double> load_problem(HostContext& context, const Config& config);

/// `input` rounded to single precision. Throws `InputError` (or `ConfigError` for generated
/// matrices) if a value is out of its range.
EigenInput<float> to_single(HostContext& context, const EigenInput<double>& input,
                            const Config& config);

/// Where the value at a dotted path of the configuration was given.
Origin origin_of(const Config& config, std::string_view path);

}  // namespace heddle::apps
