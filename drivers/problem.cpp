#include <heddle/drivers/problem.hpp>
#include <string_view>

namespace heddle {
namespace {

template <Scalar T>
double matrix_bytes(const HostMatrix<T>& A) {
  if (!A.is_stored()) return 0;
  return static_cast<double>(A.nnz()) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows() + 1) * sizeof(std::int64_t);
}

template <Scalar T>
double matrix_bytes(const std::optional<HostMatrix<T>>& A) {
  return A ? matrix_bytes(*A) : 0;
}

template <Scalar T>
double block_bytes(const HostBlock<T>& X) {
  return static_cast<double>(X.rows() * X.view().ld()) * sizeof(T);
}

std::string_view field_of(ProblemPart part) {
  switch (part) {
    case ProblemPart::matrix:
      return "A";
    case ProblemPart::mass:
      return "B";
    case ProblemPart::constraints:
      return "constraints";
    case ProblemPart::initial_guess:
      return "initial_guess";
    case ProblemPart::rhs:
      return "rhs";
    case ProblemPart::preconditioner:
      return "preconditioner";
    case ProblemPart::near_null:
      return "near_null";
    case ProblemPart::coordinates:
      return "coordinates";
  }
  return "";
}

}  // namespace

template <Scalar T>
double HostProblem<T>::bytes() const noexcept {
  return matrix_bytes(A) + matrix_bytes(B) + matrix_bytes(A_transposed) + block_bytes(constraints) +
         block_bytes(near_null) + block_bytes(initial_guess) + block_bytes(rhs);
}

ProblemError::ProblemError(ProblemPart part, const std::string& message)
    : InvalidArgument(std::string(field_of(part)) + ": " + message),
      part_(part),
      message_(message) {}

template struct HostProblem<float>;
template struct HostProblem<double>;

}  // namespace heddle
