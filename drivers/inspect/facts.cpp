#include <fmt/format.h>

#include <cstdint>
#include <heddle/drivers/inspect/facts.hpp>
#include <variant>

namespace heddle::detail {
namespace {

double matrix_bytes(const MatrixShape& A, std::size_t number) noexcept {
  if (!A.stored) return 0;
  return static_cast<double>(A.nnz) * static_cast<double>(number + sizeof(std::int32_t)) +
         static_cast<double>(A.rows + 1) * sizeof(std::int64_t);
}

double block_bytes(const BlockShape& X, std::size_t number) noexcept {
  return static_cast<double>(X.rows) * static_cast<double>(X.cols) * static_cast<double>(number);
}

}  // namespace

ProblemSizes Facts::sizes() const noexcept {
  return {.n = A.rows,
          .constraints = constraints.cols,
          .rhs = rhs.cols,
          .pencil = B.given,
          .buckling = buckling,
          .cols = A.cols,
          .normal_equations = normal_equations,
          .infinite_eigenvalues = infinite_eigenvalues.value_or(0),
          .null_vectors = null_space ? null_space->dimension : 0,
          .processes = processes};
}

double Facts::bytes() const noexcept {
  double bytes = block_bytes({near_null.rows(), near_null.cols()}, sizeof(double));
  for (const MatrixShape& M : {A, B, A_transposed}) bytes += matrix_bytes(M, number_bytes());
  for (const BlockShape& X : {constraints, initial_guess, rhs}) {
    bytes += block_bytes(X, number_bytes());
  }
  return bytes;
}

ProblemPart part_of_B(bool buckling) noexcept {
  return buckling ? ProblemPart::geometric_stiffness : ProblemPart::mass;
}

std::string_view name_of_B(bool buckling) noexcept {
  return buckling ? "the geometric stiffness" : "the mass matrix";
}

std::string_view callable_part(const Facts& facts) noexcept {
  const auto is_callable = [](const MatrixShape& A) { return A.given && !A.stored; };
  if (is_callable(facts.A)) return "A";
  if (is_callable(facts.B)) return facts.buckling ? "geometric_stiffness" : "B";
  if (is_callable(facts.A_transposed)) return "A_transposed";
  return is_callable(facts.preconditioner) ? "preconditioner" : "";
}

bool all_known(const Request& request, const ProblemSizes& sizes) noexcept {
  return is_eigensolver(request.method) && request.nev > 0 && sizes.null_vectors >= request.nev;
}

Index known_unknowns(const Request& request, const Facts& facts) {
  if (facts.unknowns > 0) return facts.unknowns;
  const auto option = request.preconditioner.options.find("unknowns");
  if (option == request.preconditioner.options.end()) return 0;
  const Index* const number = std::get_if<Index>(&option->second);
  return number == nullptr ? 0 : *number;
}

NearNullSpace near_null_of(const Facts& facts) noexcept {
  return {facts.near_null.view(), facts.unknowns};
}

std::string describe_rows(const Facts& facts) {
  return facts.normal_equations ? fmt::format("has {} rows", facts.A.rows)
                                : fmt::format("has order {}", facts.A.rows);
}

}  // namespace heddle::detail
