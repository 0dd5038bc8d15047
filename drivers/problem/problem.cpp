#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <string_view>

namespace heddle {
namespace {

std::string_view field_of(ProblemPart part) {
  switch (part) {
    case ProblemPart::matrix:
      return "A";
    case ProblemPart::mass:
      return "B";
    case ProblemPart::geometric_stiffness:
      return "geometric_stiffness";
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

std::string_view method_name(Method method) noexcept {
  switch (method) {
    case Method::automatic:
      return "auto";
    case Method::lobpcg:
      return "lobpcg";
    case Method::block_lanczos:
      return "block_lanczos";
    case Method::block_cg:
      return "block_cg";
  }
  return "";
}

ProblemError::ProblemError(ProblemPart part, const std::string& message)
    : InvalidArgument(std::string(field_of(part)) + ": " + message),
      part_(part),
      message_(message) {}

}  // namespace heddle
