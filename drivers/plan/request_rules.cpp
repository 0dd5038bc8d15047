#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/plan/buckling.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/plan/request_rules.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// The solver for a request, 0 if that is not known yet.
unsigned solver_of(const Request& request, bool normal_equations) {
  if (request.method == Method::block_cg) return normal_equations ? kLeastSquares : kBlockCg;
  if (normal_equations) return request.method == Method::automatic ? 0 : kSingularValues;
  if (request.method == Method::lobpcg) return kLobpcg;
  if (request.interval) return kInterval;
  if (request.sigma) return kNearest;
  return request.method == Method::block_lanczos ? kBlockLanczos : 0;
}

/// The solvers of the same method, or of those that may be chosen.
unsigned family_of(unsigned solver) {
  switch (solver) {
    case kBlockLanczos:
    case kInterval:
    case kNearest:
      return kBlockLanczos | kInterval | kNearest;
    case kSingularValues:
      return kEigensolvers;
    case kLeastSquares:
      return kLinearSolvers;
    default:
      return solver;
  }
}

/// The names of those who read a field that `method` does not.
std::string names_of(unsigned readers, Method method) {
  std::vector<std::string_view> names;
  for (const Method reader : methods_of(readers)) {
    if (reader == method) return "least squares";  // block CG reads the field for these alone
    if (reader != Method::automatic) names.push_back(method_name(reader));
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

bool asks_for_something(const Field<Request>& field, const Request& request) {
  if (field.is_default(request)) return false;
  return field.name != "preconditioner.type" || request.preconditioner.type != "none";
}

bool is_absolute(const Request& request) {
  return is_eigensolver(request.method) ? request.criterion == Criterion::absolute
                                        : request.linear_criterion == LinearCriterion::absolute;
}

void check_values(const Request& request) {
  for (const Field<Request>& field : request_fields()) {
    // An absolute one may be as large as the residuals are.
    if (field.name == "tolerance" && is_absolute(request)) continue;
    if (field.is_valid(request)) continue;
    throw RequestError(
        field.name, fmt::format(" is {}, not {}", field.member->text(request), field.accepted()));
  }
}

class Rules {
 public:
  Rules(const Request& request, const AskedProblem& problem, bool chosen, Naming named)
      : request_(request),
        problem_(problem),
        solver_(solver_of(request, problem.normal_equations)),
        chosen_(chosen),
        named_(named) {}

  void check() const {
    check_values(request_);
    if (request_.side.value_or(Side::both) != Side::both && !request_.sigma && !problem_.buckling) {
      throw RequestError("side", fmt::format(" needs {}", named_("sigma")));
    }
    check_buckling();
    check_readers();
    check_parts();
    check_tolerance();
    check_mixed();
    check_preconditioner();
    if (request_.filter == LanczosFilter::inverse && request_.which == Which::largest) {
      throw RequestError("filter", ": inverse is for the smallest end");
    }
    check_filter_of_interval();
  }

 private:
  /// The property of the problem that rules out fields which the method reads for other problems.
  std::string kind() const {
    if (problem_.buckling && !problem_.normal_equations) return named_("geometric_stiffness");
    if (solver_ == kNearest) return named_("sigma");
    return named_(solver_ == kInterval ? "interval" : "normal_equations");
  }

  void check_readers() const {
    if (solver_ == 0) return;
    for (const Field<Request>& field : request_fields()) {
      if ((field.readers & solver_) != 0 || !asks_for_something(field, request_)) continue;
      if ((field.readers & family_of(solver_)) != 0) {
        throw RequestError(field.name, fmt::format(" does not go with {}", kind()));
      }
      if (chosen_ && field.tuning) continue;
      throw RequestError(field.name, fmt::format(" belongs to {}, the method is {}",
                                                 names_of(field.readers, request_.method),
                                                 method_name(request_.method)));
    }
  }

  /// Load factors are the pairs of a pencil nearest to a number.
  void check_buckling() const {
    if (!problem_.buckling) return;
    refuse_part(ProblemPart::geometric_stiffness, problem_.normal_equations);
    const auto refuse = [this](std::string_view field, std::string_view value) {
      throw RequestError(std::string(field), fmt::format("{} does not go with {}", value, kind()));
    };
    refuse_part(ProblemPart::rhs, request_.method == Method::block_cg);
    if (request_.method == Method::lobpcg) refuse("method", ": lobpcg");
    if (request_.which == Which::largest) refuse("which", ": largest");
    if (request_.interval) refuse("interval", "");
    if (request_.criterion == Criterion::absolute) refuse("criterion", ": absolute");
  }

  void refuse_part(ProblemPart part, bool there) const {
    if (there) throw ProblemError(part, fmt::format("does not go with {}", kind()));
  }

  void check_parts() const {
    if (problem_.constraints && solver_ == kBlockLanczos) {
      throw ProblemError(
          ProblemPart::constraints,
          fmt::format("belongs to lobpcg and to {}, the method is block_lanczos", named_("sigma")));
    }
    if (!problem_.normal_equations && solver_ != kInterval && solver_ != kNearest) return;
    refuse_part(part_of_B(problem_.buckling), problem_.pencil && problem_.normal_equations);
    refuse_part(ProblemPart::constraints,
                problem_.constraints && (solver_ != kNearest || problem_.buckling));
    if (solver_ != 0 && solver_ != kLeastSquares) {
      refuse_part(ProblemPart::initial_guess, problem_.initial_guess);
    }
  }

  /// A polynomial in B⁻¹A would need B⁻¹, and block Lanczos without a filter finds no interval.
  void check_filter_of_interval() const {
    if (solver_ != kInterval) return;
    if (request_.filter == LanczosFilter::none) {
      throw RequestError("filter", fmt::format(": none does not go with {}", kind()));
    }
    if (request_.filter == LanczosFilter::chebyshev && problem_.pencil) {
      throw RequestError("filter",
                         fmt::format(": chebyshev finds the pairs of an interval of one matrix "
                                     "only; with a mass matrix, use auto or inverse"));
    }
  }

  /// No default suits residuals of unknown size.
  void check_tolerance() const {
    if (!is_absolute(request_) || request_.tolerance > 0) return;
    throw RequestError(is_eigensolver(request_.method) ? "criterion" : "linear_criterion",
                       fmt::format(": absolute needs a {}", named_("tolerance")));
  }

  /// Mixed precision consists of two solves. A checkpoint holds one, and singular triplets,
  /// intervals and the pairs nearest to a number take no guess from the first.
  void check_mixed() const {
    if (request_.precision != Precision::mixed) return;
    if (!request_.checkpoint.file.empty()) {
      throw RequestError("checkpoint.file",
                         fmt::format(" does not go with {}: mixed", named_("precision")));
    }
    if (solver_ != kInterval && solver_ != kSingularValues && solver_ != kNearest) return;
    throw RequestError("precision", fmt::format(": mixed does not go with {}", kind()));
  }

  void check_preconditioner() const {
    if (!problem_.preconditioned || problem_.preconditioner) return;
    if ((solver_ & kPreconditioned) == 0) return;
    const std::string& type = request_.preconditioner.type;
    if (const PreconditionerKind* named = preconditioner_table().find(type)) {
      const std::string reason = named->unsuitable(*problem_.preconditioned);
      if (!reason.empty()) {
        throw RequestError("preconditioner.type", fmt::format(": {} {}", named->name, reason));
      }
    }
    check_options();
  }

  /// Options of another preconditioner would have no effect.
  void check_options() const {
    PreconditionerRequest asked = request_.preconditioner;
    const OptionValues given = std::exchange(asked.options, {});
    if (given.empty()) return;
    const PreconditionerPlan plan = plan_preconditioner(asked, *problem_.preconditioned);
    for (const auto& [name, value] : given) {
      if (plan.options.values().contains(name) || !is_known_option(name)) continue;
      throw RequestError(fmt::format("preconditioner.{}", name),
                         fmt::format(" does not go with {}: {}{}", named_("preconditioner.type"),
                                     asked.type == "auto" ? "auto, which is " : "", plan.name()));
    }
  }

  static bool is_known_option(const std::string& name) {
    const std::vector<std::string_view> kinds = preconditioner_table().names();
    return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
      const std::vector<PreconditionerKey>& keys = preconditioner_table().get(kind).keys;
      return std::any_of(keys.begin(), keys.end(),
                         [&](const PreconditionerKey& key) { return key.name == name; });
    });
  }

  const Request& request_;
  const AskedProblem& problem_;
  unsigned solver_;
  bool chosen_;
  Naming named_;
};

}  // namespace

AskedProblem asked_problem(const Request& request, const Facts& facts) {
  AskedProblem asked{.pencil = facts.B.given,
                     .buckling = facts.buckling,
                     .normal_equations = facts.normal_equations,
                     .constraints = facts.constraints.cols > 0,
                     .initial_guess = facts.initial_guess.cols > 0,
                     .preconditioner = facts.preconditioner.given};
  if (request.method != Method::automatic) {
    asked.preconditioned = preconditioned_problem(request, facts);
  }
  return asked;
}

std::string plain_name(std::string_view name) { return std::string(name); }

void check_request(const Request& asked, const AskedProblem& problem, bool chosen, Naming named) {
  const Request request = problem.buckling ? load_factor_request(asked) : asked;
  Rules(request, problem, chosen, named).check();
}

}  // namespace heddle::detail
