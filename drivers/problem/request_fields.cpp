#include <fmt/format.h>

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/problem/run_fields.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Row = FieldRow<Request>;
using RequestTable = FieldTable<Request>;

void add_method_and_size(RequestTable& table) {
  Words<Method> methods;
  for (const Method method :
       {Method::automatic, Method::lobpcg, Method::block_lanczos, Method::block_cg}) {
    methods.emplace_back(method_name(method), method);
  }
  Row(
      table, "solver.type",
      "auto: block_cg with right-hand sides, else lobpcg or block_lanczos, chosen for the problem; "
      "a program of one method takes its own and auto",
      [](auto& r) -> auto& { return r.method; }, methods)
      .name("method")
      .keyword("method")
      .option("--solver")
      .aliases({"eps_type", "ksp_type", "method", "driver", "name"});
  Row(table, "solver.nev",
      "eigenpairs wanted; of an interval: the most that it may hold; auto: 6, of an interval all, "
      "by a polynomial up to 100",
      [](auto& r) -> auto& { return r.nev; }, {{"auto", 0}})
      .integer(kCount)
      .readers(kEigensolvers)
      .aliases({"eps_nev", "num_eigenvalues", "n_eigenvalues", "number_of_eigenvalues", "num_evals",
                "num_eigs", "neigs", "eig_wanted_count", "ev", "k"})
      .option("-n,--nev");
}

void add_place(RequestTable& table) {
  Row(table, "solver.which", "", [](auto& r) -> auto& { return r.which; },
      {{"smallest", Which::smallest}, {"largest", Which::largest}})
      .readers(kEndSolvers)
      .variant({.readers = kLobpcg, .doc = "end of the spectrum"})
      .variant({.readers = kBlockLanczos | kInterval | kNearest,
                .doc = "end of the spectrum; interval: all eigenpairs in solver.interval; nearest: "
                       "those nearest to solver.sigma",
                .words = {"interval", "nearest"}})
      .option("--which")
      .aliases({"eps_which", "eig_which", "end", "spectrum"});
  Row(
      table, "solver.interval",
      "[a, b]: all eigenpairs with a <= lambda <= b, at most nev of them; -inf and inf are ends, "
      "too; with a mass matrix by factors",
      [](auto& r) -> auto& { return r.interval; })
      .interval()
      .readers(kInterval)
      .option("--interval", "solver.which=interval")
      .aliases({"eps_interval", "range", "window", "vl", "bounds"});
  Row(
      table, "solver.sigma",
      "the nev eigenpairs nearest to this number, by a factor of A - sigma B that also counts them",
      [](auto& r) -> auto& { return r.sigma; })
      .real({})
      .readers(kNearest)
      .option("--sigma", "solver.which=nearest")
      .aliases({"shift", "target", "eps_target", "st_shift", "tau"});
  Row(table, "solver.side",
      "the side of solver.sigma on which eigenvalues are wanted; auto: both, but positive load "
      "factors where no sigma is given",
      [](auto& r) -> auto& { return r.side; },
      {{"auto", std::nullopt},
       {"both", Side::both},
       {"above", Side::above},
       {"below", Side::below}})
      .readers(kNearest)
      .option("--side");
}

void add_columns(RequestTable& table) {
  Row(table, "solver.max_basis",
      "columns of the basis at which it restarts, at least nev and two blocks; auto: chosen from "
      "both",
      [](auto& r) -> auto& { return r.max_basis; }, {{"auto", 0}})
      .integer(kCount)
      .readers(kBlockLanczos | kNearest)
      .tuning()
      .option("--max-basis")
      .aliases({"ncv", "eps_ncv", "max_basis_size", "max_subspace", "subspace_size", "m"});
  Row(table, "solver.block_size",
      "columns iterated at once; auto: chosen from nev, the end of the spectrum and the device",
      [](auto& r) -> auto& { return r.block_size; }, {{"auto", 0}})
      .integer(kCount)
      .readers(kEigensolvers)
      .option("--block-size")
      .aliases({"max_block_size", "eps_lobpcg_blocksize", "block", "ncv"});
}

void add_tolerance(RequestTable& table) {
  Row(table, "solver.tolerance", "of the criterion; auto: 1e-8, in single precision 1e-5",
      [](auto& r) -> auto& { return r.tolerance; }, {{"auto", 0.0}})
      .real({0, 1, true})
      .option("--tol,--tolerance")
      .aliases({"tol", "eps_tol", "eps", "rtol", "atol", "eig_tolerance", "convergence_tolerance",
                "reduction_factor"});
  Row(table, "solver.criterion",
      "eigenvalue: norm, and the error bound of lambda is <= tol |lambda| or rounding; norm: |r| "
      "<= tol (|A| + |lambda| |B|); relative: <= tol |lambda| |B|; absolute: <= tol",
      [](auto& r) -> auto& { return r.criterion; },
      {{"eigenvalue", Criterion::eigenvalue},
       {"norm", Criterion::norm},
       {"relative", Criterion::relative},
       {"absolute", Criterion::absolute}})
      .readers(kEigensolvers)
      .option("--criterion")
      .aliases({"eps_conv", "convergence", "conv_test"});
  Row(table, "solver.criterion",
      "relative: |b - A x| <= tol |b|; absolute: <= tol; with transform: normal_equations of A^T "
      "(b - A x) and A^T b",
      [](auto& r) -> auto& { return r.linear_criterion; },
      {{"relative", LinearCriterion::relative}, {"absolute", LinearCriterion::absolute}})
      .name("linear_criterion")
      .keyword("linear_criterion")
      .readers(kLinearSolvers)
      .option("--criterion")
      .aliases({"convergence", "conv_test"});
}

void add_limits(RequestTable& table) {
  Row(
      table, "solver.max_iterations", "", [](auto& r) -> auto& { return r.max_iterations; })
      .integer(kCount)
      .variant({.readers = kEigensolvers,
                .doc = "iterations (of block_lanczos: cycles up to a restart) before giving up",
                .fallback = std::to_string(EigenOptions{}.max_iterations)})
      .variant({.readers = kLinearSolvers,
                .doc = "iterations before giving up",
                .fallback = std::to_string(LinearOptions{}.max_iterations)})
      .option("--max-iterations")
      .aliases({"maxiter", "maxit", "max_it", "eps_max_it", "max_iters", "iterations", "itr",
                "max_outer_iterations", "maximum_iterations", "max_matvecs", "eig_max_iters"});
  Row(table, "solver.time_limit_s", "seconds of solving before giving up",
      [](auto& r) -> auto& { return r.time_limit_s; }, {{"none", kInfinity}})
      .real({.low = 0, .open = true})
      .keyword("time_limit")
      .option("--time-limit")
      .aliases({"time_limit", "timeout", "max_time", "time"});
}

void add_start(RequestTable& table) {
  Row(table, "solver.start",
      "start vectors without a guess. nested: for the smallest end, from the coarser levels of the "
      "preconditioner multigrid where it is in use, else random; auto: nested where that saves "
      "time",
      [](auto& r) -> auto& { return r.start; },
      {{"auto", StartVectors::automatic},
       {"nested", StartVectors::nested},
       {"random", StartVectors::random}})
      .readers(kLobpcg)
      .tuning();
}

void add_own_options(RequestTable& table) {
  Row(
      table, "solver.refresh_interval", "iterations after which products with A are computed anew",
      [](auto& r) -> auto& { return r.refresh_interval; })
      .integer(kCount)
      .readers(kPreconditioned)
      .tuning();
  Row(table, "solver.filter",
      "chebyshev: a polynomial in A damps the unwanted end where that pays; inverse: A - sigma B "
      "is factored, for the smallest end or an interval; none: neither; auto: what costs least",
      [](auto& r) -> auto& { return r.filter; },
      {{"auto", std::nullopt},
       {"auto", LanczosFilter::automatic},
       {"chebyshev", LanczosFilter::chebyshev},
       {"inverse", LanczosFilter::inverse},
       {"none", LanczosFilter::none}})
      .readers(kBlockLanczos | kInterval)
      .tuning()
      .option("--filter")
      .aliases({"polynomial", "acceleration"});
  Row(table, "solver.factorization",
      "the library that factors A - sigma B, for filter: inverse or sigma. cudss: cuDSS on the "
      "GPU, which is loaded at run time; cudss_deterministic: the same with equal bits in every "
      "run, several times slower; host: CHOLMOD in builds with it, else Eigen, for sigma MUMPS, "
      "else Eigen; auto: cuDSS for sigma where it is there and the factor fits, else host",
      [](auto& r) -> auto& { return r.factorization; },
      {{"auto", FactorLibrary::automatic},
       {"host", FactorLibrary::host},
       {"cudss", FactorLibrary::cudss},
       {"cudss_deterministic", FactorLibrary::cudss_deterministic}})
      .readers(kBlockLanczos | kNearest)
      .tuning()
      .option("--factorization")
      .aliases({"direct_solver", "linear_solver", "mat_solver_type"});
  Row(table, "solver.certify",
      "whether the eigenvalues up to the last wanted one are counted after the solve, by the signs "
      "of the pivots of a factor of A - sigma B, and missing pairs found; inertia: always; no: "
      "never; auto: up to order 5000 where a factor is not nearly dense, where it costs less than "
      "a tenth of the solve, and "
      "next to stiff rows",
      [](auto& r) -> auto& { return r.certify; },
      {{"auto", Certify::automatic}, {"inertia", Certify::inertia}, {"no", Certify::no}})
      .readers(kLobpcg | kBlockLanczos)
      .option("--certify");
  Row(table, "solver.algorithm",
      "breakdown_free: one Krylov space for all columns; pseudo_block: one for each",
      [](auto& r) -> auto& { return r.algorithm; },
      {{"breakdown_free", CgAlgorithm::breakdown_free},
       {"pseudo_block", CgAlgorithm::pseudo_block}})
      .readers(kLinearSolvers)
      .tuning()
      .option("--algorithm");
}

void add_systems(RequestTable& table) {
  Row(
      table, "solver.damp",
      "of least squares (transform: normal_equations): |b - A x|^2 + damp^2 |x|^2 is minimised",
      [](auto& r) -> auto& { return r.damp; })
      .real({.low = 0})
      .readers(kLeastSquares)
      .option("--damp")
      .aliases({"damping", "tikhonov", "ridge"});
  Row(table, "solver.project_rhs",
      "whether the parts of right-hand sides along the known null vectors of a singular A are "
      "removed; with such a part there is no solution",
      [](auto& r) -> auto& { return r.project_rhs; }, {{"true", true}, {"false", false}})
      .readers(kBlockCg)
      .option("--project-rhs")
      .aliases({"remove_null_space", "mat_null_space", "nullspace"});
}

void add_preconditioner(RequestTable& table) {
  Row(
      table, "solver.preconditioner.type",
      fmt::format("from A, or from B for the largest end of a pencil; auto: {}",
                  kAutomaticPreconditionerRule),
      [](auto& r) -> auto& { return r.preconditioner.type; },
      words_from({"auto", "none"}, preconditioner_table().names()))
      .name("preconditioner.type")
      .keyword("preconditioner.type")
      .readers(kPreconditioned)
      .tuning()
      .option("--preconditioner");
  Row(table, "solver.preconditioner.precision",
      "of the preconditioner in a solve in double precision; single moves half of the bytes, half, "
      "bf16 and tf32 (chebyshev, block_jacobi, multigrid) fewer on a GPU; raised to double in "
      "steps where it prevents progress; auto: single for multigrid, and in lobpcg for chebyshev, "
      "block_jacobi and incomplete_cholesky, where their matrix allows it; else double",
      [](auto& r) -> auto& { return r.preconditioner.precision; },
      {{"auto", PreconditionerPrecision::automatic},
       {"double", PreconditionerPrecision::full},
       {"single", PreconditionerPrecision::single},
       {"half", PreconditionerPrecision::half},
       {"bf16", PreconditionerPrecision::bf16},
       {"tf32", PreconditionerPrecision::tf32}})
      .name("preconditioner.precision")
      .keyword("preconditioner.precision")
      .readers(kPreconditioned)
      .tuning();
  // Each option has a key of its own, see `preconditioner_table`.
  Row(
      table, "", "", [](auto& r) -> auto& { return r.preconditioner.options; })
      .name("preconditioner.options")
      .readers(kPreconditioned)
      .tuning();
}

RequestTable all_fields() {
  RequestTable table;
  add_method_and_size(table);
  add_place(table);
  add_columns(table);
  add_tolerance(table);
  add_limits(table);
  add_start(table);
  add_own_options(table);
  add_systems(table);
  add_preconditioner(table);
  add_run_fields(table);
  return table;
}

}  // namespace

const FieldTable<Request>& request_fields() {
  static const RequestTable table = all_fields();
  return table;
}

std::vector<Method> methods_of(unsigned readers) {
  std::vector<Method> methods;
  if ((readers & kLobpcg) != 0) methods.push_back(Method::lobpcg);
  if ((readers & (kBlockLanczos | kInterval | kNearest)) != 0)
    methods.push_back(Method::block_lanczos);
  if ((readers & kLinearSolvers) != 0) methods.push_back(Method::block_cg);
  if ((readers & kEigensolvers) != 0) methods.push_back(Method::automatic);
  return methods;
}

std::string key_of(std::string_view field) {
  for (const Field<Request>& row : request_fields()) {
    if (row.name == field && !row.path.empty()) return row.path;
  }
  return field.starts_with("preconditioner.") ? fmt::format("solver.{}", field)
                                              : std::string(field);
}

}  // namespace heddle::detail
