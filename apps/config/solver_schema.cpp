#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/schema_row.hpp>
#include <heddle/apps/config/solver_schema.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::apps {
namespace {

/// The value of an option as YAML.
std::string to_text(const OptionValue& value) {
  const Index* integer = std::get_if<Index>(&value);
  return integer != nullptr ? std::to_string(*integer) : std::get<std::string>(value);
}

/// Collects the rows of the solver keys, one member function per subject.
class SolverSchema {
 public:
  explicit SolverSchema(std::vector<KeySpec>& rows) : rows_(rows) {
    solver();
    tolerance();
    limits();
    own_options();
    right_hand_sides();
    preconditioner();
  }

 private:
  using Node = const ConfigNode&;

  SchemaRow add(std::string path, std::string doc) {
    return SchemaRow(rows_, std::move(path), std::move(doc));
  }

  void solver();
  void which();
  void tolerance();
  void limits();
  void own_options();
  void right_hand_sides();
  void preconditioner();
  void option(const PreconditionerKey& key);

  std::vector<KeySpec>& rows_;
};

void SolverSchema::solver() {
  add("solver", "how it is solved").section().fallback("{}");
  SchemaRow type = add("solver.type",
                       "auto: block_cg with right-hand sides, else lobpcg or block_lanczos, chosen "
                       "for the problem; a program of one method takes its own and auto");
  for (const SolverType solver : kSolverTypes) type.word(method_name(solver));
  type.fallback(std::string(kSolverPlaceholder))
      .option("--solver")
      .aliases({"eps_type", "ksp_type", "method", "driver", "name"});
  add("solver.nev", "eigenpairs wanted")
      .integer(kCount)
      .fallback("6")
      .only_for(kEigensolvers)
      .aliases({"eps_nev", "num_eigenvalues", "n_eigenvalues", "number_of_eigenvalues", "num_evals",
                "num_eigs", "neigs", "eig_wanted_count", "ev", "k"})
      .option("-n,--nev")
      .store([](Node node, Config& config) { config.request.nev = *as_integer(node); });
  which();
  add("solver.max_basis",
      "columns of the basis at which it restarts, at least nev and two blocks; auto: chosen from "
      "both")
      .word("auto")
      .integer(kCount)
      .fallback("auto")
      .only_for({SolverType::block_lanczos, SolverType::automatic})
      .tuning()
      .option("--max-basis")
      .aliases({"ncv", "eps_ncv", "max_basis_size", "max_subspace", "subspace_size", "m"})
      .store([](Node node, Config& config) {
        config.request.max_basis = as_integer(node).value_or(0);
      });
  add("solver.block_size",
      "columns iterated at once; auto: chosen from nev, the end of the spectrum and the device")
      .word("auto")
      .integer(kCount)
      .fallback("auto")
      .only_for(kEigensolvers)
      .option("--block-size")
      .aliases({"max_block_size", "eps_lobpcg_blocksize", "block", "ncv"})
      .store([](Node node, Config& config) {
        config.request.block_size = as_integer(node).value_or(0);
      });
}

void SolverSchema::which() {
  const auto end = [this](std::string doc, std::vector<SolverType> solvers) {
    return add("solver.which", std::move(doc))
        .choice<Which>({{"smallest", Which::smallest}, {"largest", Which::largest}},
                       [](Config& config) -> Which& { return config.request.which; })
        .fallback("smallest")
        .only_for(std::move(solvers))
        .option("--which")
        .aliases({"eps_which", "target", "eig_which", "end", "spectrum"});
  };
  end("end of the spectrum", {SolverType::lobpcg});
  end("end of the spectrum; interval: all eigenpairs in solver.interval",
      {SolverType::block_lanczos, SolverType::automatic})
      .word("interval");
  add("solver.interval",
      "[a, b]: all eigenpairs with a <= lambda <= b, at most nev of them; -inf and inf are ends, "
      "too")
      .interval()
      .only_for({SolverType::block_lanczos, SolverType::automatic})
      .option("--interval", "solver.which=interval")
      .aliases({"eps_interval", "range", "window", "vl", "bounds"})
      .store([](Node node, Config& config) {
        config.request.interval = {*as_end(node.items[0]), *as_end(node.items[1])};
      });
}

void SolverSchema::tolerance() {
  add("solver.tolerance", "of the criterion; auto: 1e-8, in single precision 1e-5")
      .word("auto")
      .real({0, 1, true})
      .fallback("auto")
      .option("--tol,--tolerance")
      .aliases({"tol", "eps_tol", "eps", "rtol", "atol", "eig_tolerance", "convergence_tolerance",
                "reduction_factor"})
      .store(
          [](Node node, Config& config) { config.request.tolerance = as_real(node).value_or(0); });
  add("solver.criterion",
      "eigenvalue: norm, and the error bound of lambda is <= tol |lambda| or rounding; norm: |r| "
      "<= "
      "tol (|A| + |lambda| |B|); relative: <= tol |lambda| |B|; absolute: <= tol")
      .choice<Criterion>({{"eigenvalue", Criterion::eigenvalue},
                          {"norm", Criterion::norm},
                          {"relative", Criterion::relative},
                          {"absolute", Criterion::absolute}},
                         [](Config& config) -> Criterion& { return config.request.criterion; })
      .fallback("eigenvalue")
      .only_for(kEigensolvers)
      .option("--criterion")
      .aliases({"eps_conv", "convergence", "conv_test"});
  add("solver.criterion",
      "relative: |b - A x| <= tol |b|; absolute: <= tol; with transform: normal_equations of A^T "
      "(b "
      "- A x) and A^T b")
      .choice<LinearCriterion>(
          {{"relative", LinearCriterion::relative}, {"absolute", LinearCriterion::absolute}},
          [](Config& config) -> LinearCriterion& { return config.request.linear_criterion; })
      .fallback("relative")
      .only_for({SolverType::block_cg})
      .option("--criterion")
      .aliases({"convergence", "conv_test"});
}

void SolverSchema::limits() {
  const auto max_iterations = [this](std::string doc, std::string fallback,
                                     std::vector<SolverType> solvers) {
    add("solver.max_iterations", std::move(doc))
        .integer(kCount)
        .fallback(std::move(fallback))
        .only_for(std::move(solvers))
        .option("--max-iterations")
        .aliases({"maxiter", "maxit", "max_it", "eps_max_it", "max_iters", "iterations", "itr",
                  "max_outer_iterations", "maximum_iterations", "max_matvecs", "eig_max_iters"})
        .store(
            [](Node node, Config& config) { config.request.max_iterations = *as_integer(node); });
  };
  max_iterations("iterations (of block_lanczos: cycles up to a restart) before giving up", "1000",
                 kEigensolvers);
  max_iterations("iterations before giving up", "10000", {SolverType::block_cg});
  add("solver.time_limit_s", "seconds of solving before giving up")
      .word("none")
      .real({.low = 0, .open = true})
      .fallback("none")
      .option("--time-limit")
      .aliases({"time_limit", "timeout", "max_time", "time"})
      .store([](Node node, Config& config) {
        config.request.time_limit_s =
            as_real(node).value_or(std::numeric_limits<double>::infinity());
      });
}

void SolverSchema::own_options() {
  add("solver.refresh_interval", "iterations between fresh products with A")
      .integer(kCount)
      .fallback("50")
      .only_for({SolverType::lobpcg, SolverType::block_cg, SolverType::automatic})
      .tuning()
      .store(
          [](Node node, Config& config) { config.request.refresh_interval = *as_integer(node); });
  add("solver.filter",
      "chebyshev: a polynomial in A damps the unwanted end where that pays; inverse: A - sigma B "
      "is factored, for the smallest end; none: neither; auto: what costs least")
      .choice<std::optional<LanczosFilter>>(
          {{"auto", std::nullopt},
           {"chebyshev", LanczosFilter::chebyshev},
           {"inverse", LanczosFilter::inverse},
           {"none", LanczosFilter::none}},
          [](Config& config) -> std::optional<LanczosFilter>& { return config.request.filter; })
      .fallback("auto")
      .only_for({SolverType::block_lanczos, SolverType::automatic})
      .tuning()
      .option("--filter")
      .aliases({"polynomial", "acceleration"});
  add("solver.factorization",
      "the library that factors A - sigma B for filter: inverse. cudss: cuDSS on the GPU, which is "
      "loaded at run time; host: CHOLMOD in builds with it, else Eigen; auto: host")
      .choice<FactorLibrary>(
          {{"auto", FactorLibrary::automatic},
           {"host", FactorLibrary::host},
           {"cudss", FactorLibrary::cudss}},
          [](Config& config) -> FactorLibrary& { return config.request.factorization; })
      .fallback("auto")
      .only_for({SolverType::block_lanczos, SolverType::automatic})
      .tuning()
      .option("--factorization")
      .aliases({"direct_solver", "linear_solver", "mat_solver_type"});
  add("solver.algorithm",
      "breakdown_free: one Krylov space for all columns; pseudo_block: one for each")
      .choice<CgAlgorithm>({{"breakdown_free", CgAlgorithm::breakdown_free},
                            {"pseudo_block", CgAlgorithm::pseudo_block}},
                           [](Config& config) -> CgAlgorithm& { return config.request.algorithm; })
      .fallback("breakdown_free")
      .only_for({SolverType::block_cg})
      .tuning()
      .option("--algorithm");
}

void SolverSchema::right_hand_sides() {
  add("solver.damp",
      "of least squares (transform: normal_equations): |b - A x|^2 + damp^2 |x|^2 is minimised")
      .real({.low = 0})
      .fallback("0")
      .only_for({SolverType::block_cg, SolverType::automatic})
      .option("--damp")
      .aliases({"damping", "tikhonov", "ridge"})
      .store([](Node node, Config& config) { config.request.damp = *as_real(node); });
  add("solver.project_rhs",
      "whether the parts of right-hand sides along the known null vectors of a singular A are "
      "removed; with such a part there is no solution")
      .choice<bool>({{"true", true}, {"false", false}},
                    [](Config& config) -> bool& { return config.request.project_rhs; })
      .fallback("false")
      .only_for({SolverType::block_cg})
      .option("--project-rhs")
      .aliases({"remove_null_space", "mat_null_space", "nullspace"});
}

void SolverSchema::preconditioner() {
  add("solver.preconditioner", "approximates an inverse")
      .section()
      .fallback("{}")
      .only_for({SolverType::lobpcg, SolverType::block_cg, SolverType::automatic})
      .tuning()
      .aliases({"precond", "pc", "pc_type", "st_pc_type", "prec_choice"});
  SchemaRow type = add("solver.preconditioner.type",
                       fmt::format("from A, or from B for the largest end of a pencil; auto: {}",
                                   kAutomaticPreconditionerRule));
  type.word("auto").word("none");
  std::vector<std::string_view> names = preconditioner_table().names();
  for (const std::string_view name : names) type.word(name);
  type.fallback("auto").option("--preconditioner").store([](Node node, Config& config) {
    config.request.preconditioner.type = node.text;
  });
  add("solver.preconditioner.precision",
      "of the preconditioner in a solve in double precision; single moves half of the bytes, half, "
      "bf16 and tf32 (chebyshev, block_jacobi, multigrid) fewer on a GPU; raised to double in "
      "steps where it prevents progress; auto: single for multigrid, and in lobpcg for chebyshev, "
      "block_jacobi and incomplete_cholesky, where their matrix allows it, else double")
      .choice<PreconditionerPrecision>({{"auto", PreconditionerPrecision::automatic},
                                        {"double", PreconditionerPrecision::full},
                                        {"single", PreconditionerPrecision::single},
                                        {"half", PreconditionerPrecision::half},
                                        {"bf16", PreconditionerPrecision::bf16},
                                        {"tf32", PreconditionerPrecision::tf32}},
                                       [](Config& config) -> PreconditionerPrecision& {
                                         return config.request.preconditioner.precision;
                                       })
      .fallback("auto")
      .only_for({SolverType::lobpcg, SolverType::block_cg, SolverType::automatic});
  // The options of the preconditioner that auto uses by default are listed first.
  std::stable_partition(names.begin(), names.end(),
                        [](std::string_view name) { return name == automatic_preconditioner({}); });
  for (const std::string_view name : names) {
    for (const PreconditionerKey& key : preconditioner_table().get(name).keys) option(key);
  }
}

/// If several preconditioners share a key, the description of the first one is used.
void SolverSchema::option(const PreconditionerKey& key) {
  const std::string path = "solver.preconditioner." + key.name;
  for (const KeySpec& row : rows_) {
    if (row.path == path) return;
  }
  SchemaRow row = add(path, key.doc);
  for (const std::string& word : key.words) row.word(word);
  if (key.integers) row.integer({key.integers->low, key.integers->high});
  row.fallback(to_text(key.fallback))
      .aliases({key.aliases.begin(), key.aliases.end()})
      .store([name = key.name, fallback = key.fallback](Node node, Config& config) {
        const std::optional<Index> integer = as_integer(node);
        const OptionValue value = integer ? OptionValue(*integer) : OptionValue(node.text);
        if (value != fallback) config.request.preconditioner.options[name] = value;
      });
}

}  // namespace

void add_solver_rows(std::vector<KeySpec>& rows) { SolverSchema{rows}; }

}  // namespace heddle::apps
