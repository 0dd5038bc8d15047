#include <fmt/format.h>

#include <array>
#include <heddle/apps/config/schema.hpp>
#include <heddle/spmm/spmm.hpp>
#include <iterator>
#include <utility>

namespace heddle::apps {
namespace {

/// The words of a choice with what they stand for.
template <class Value>
using Words = std::initializer_list<std::pair<std::string_view, Value>>;

template <class Value>
std::vector<std::string_view> names(const Words<Value>& words) {
  std::vector<std::string_view> result;
  for (const auto& [name, value] : words) result.push_back(name);
  return result;
}

/// A row for a choice between words; `field` gives the place in the configuration.
template <class Value>
KeySpec choice(KeySpec row, const Words<Value>& words, Value& (*field)(Config&)) {
  row.forms.words = names(words);
  row.store = [known = std::vector(words), field](const ConfigNode& node, Config& config) {
    for (const auto& [name, value] : known) {
      if (name == node.text) field(config) = value;
    }
  };
  return row;
}

constexpr Range<Index> kCount{.low = 1};
constexpr Range<Index> kNatural{.low = 0};
constexpr Index kMaxThreads = 4096;

const std::vector<SolverType> kEigensolvers = {SolverType::lobpcg, SolverType::block_lanczos};

/// The place of a matrix in the configuration; makes one where it is optional.
MatrixSource& matrix_source(Config& config) { return config.problem.matrix; }
MatrixSource& mass_source(Config& config) {
  if (!config.problem.mass) config.problem.mass.emplace();
  return *config.problem.mass;
}

/// The rows of a matrix: itself, and the keys of a generated one.
void add_matrix(std::vector<KeySpec>& rows, KeySpec matrix, MatrixSource& (*source)(Config&)) {
  const std::string prefix = matrix.path + ".";
  const auto structure = [source](Config& config) -> GallerySpec& {
    return *source(config).structure;
  };
  matrix.forms = {.section = true, .file = true};
  matrix.store = [source](const ConfigNode& node, Config& config) {
    MatrixSource& target = source(config);
    target.origin = node.origin;
    if (node.is_map()) {
      target.structure.emplace();
    } else {
      target.path = resolve_file(node);
    }
  };
  rows.push_back(std::move(matrix));

  KeySpec generate{.path = prefix + "generate",
                   .doc = "structure to generate",
                   .required = true,
                   .aliases = {"gallery", "structure", "name", "type"}};
  for (const GalleryStructure& known : gallery_structures()) {
    generate.forms.words.push_back(known.name);
  }
  generate.store = [structure](const ConfigNode& node, Config& config) {
    structure(config).name = node.text;
  };
  rows.push_back(std::move(generate));
  rows.push_back({.path = prefix + "size",
                  .forms = {.integers = kCount},
                  .doc = "its sizes, e.g. [64, 64, 64]",
                  .required = true,
                  .aliases = {"sizes", "dimensions", "dims", "shape", "n"},
                  .store = [structure](const ConfigNode& node, Config& config) {
                    for (const ConfigNode& item : node.items) {
                      structure(config).size.push_back(*as_integer(item));
                    }
                  }});
  rows.push_back({.path = prefix + "density",
                  .forms = {.real = Range<double>{.low = 0}},
                  .fallback = "0",
                  .doc = "mean row length or edge factor of random structures; 0: their default",
                  .aliases = {"nnz_per_row", "edge_factor"},
                  .store = [structure](const ConfigNode& node, Config& config) {
                    structure(config).density = *as_real(node);
                  }});
  rows.push_back({.path = prefix + "seed",
                  .forms = {.integer = kNatural},
                  .fallback = "42",
                  .doc = "seed of random structures",
                  .store = [structure](const ConfigNode& node, Config& config) {
                    structure(config).seed = static_cast<std::uint64_t>(*as_integer(node));
                  }});
}

void add_problem(std::vector<KeySpec>& rows) {
  rows.push_back(
      {.path = "problem", .forms = {.section = true}, .fallback = "{}", .doc = "A x = lambda B x"});
  add_matrix(
      rows,
      {.path = "problem.matrix",
       .doc =
           "a Matrix Market file, relative to the file it is named in, or a structure to generate",
       .required = true,
       .aliases = {"A", "file", "path", "input", "mtx", "stiffness"}},
      matrix_source);
  add_matrix(rows,
             {.path = "problem.mass",
              .doc = "B, positive definite, given like A; the identity if left out",
              .only_for = kEigensolvers,
              .aliases = {"B", "M", "mass_matrix"}},
             mass_source);
  rows.push_back(
      choice<Transform>({.path = "problem.transform",
                         .fallback = "none",
                         .doc = "what to take instead of A: the Laplacian of its graph",
                         .only_for = kEigensolvers},
                        {{"none", Transform::none},
                         {"laplacian", Transform::laplacian},
                         {"normalized_laplacian", Transform::normalized_laplacian}},
                        [](Config& config) -> Transform& { return config.problem.transform; }));
  rows.push_back({.path = "problem.constraints",
                  .forms = {.file = true},
                  .doc = "dense Matrix Market file: eigenvectors B-orthogonal to its columns",
                  .only_for = kEigensolvers,
                  .aliases = {"deflation", "null_space", "Y"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.problem.constraints = resolve_file(node);
                  }});
  rows.push_back({.path = "problem.initial_guess",
                  .forms = {.file = true},
                  .doc = "dense Matrix Market file: vectors to start from, random ones added",
                  .aliases = {"X0", "initial_space", "guess", "start"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.problem.initial_guess = resolve_file(node);
                  }});
  rows.push_back({.path = "problem.rhs",
                  .forms = {.section = true, .file = true},
                  .doc = "right-hand sides",
                  .only_for = {SolverType::block_cg}});
}

void add_solver_limits(std::vector<KeySpec>& rows) {
  rows.push_back({.path = "solver.tolerance",
                  .forms = {.words = {"auto"}, .real = Range<double>{0, 1, true}},
                  .fallback = "auto",
                  .doc = "of the criterion; auto: 1e-8, in single precision 1e-5",
                  .aliases = {"tol", "eps_tol", "eps", "rtol", "atol", "eig_tolerance",
                              "convergence_tolerance", "reduction_factor"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.solver.tolerance = as_real(node).value_or(0);
                  }});
  rows.push_back(choice<Criterion>(
      {.path = "solver.criterion",
       .fallback = "norm",
       .doc = "norm: |r| <= tol (|A| + |lambda| |B|); relative: <= tol |lambda| |B|; "
              "absolute: <= tol",
       .only_for = kEigensolvers,
       .aliases = {"eps_conv", "convergence", "conv_test"}},
      {{"norm", Criterion::norm},
       {"relative", Criterion::relative},
       {"absolute", Criterion::absolute}},
      [](Config& config) -> Criterion& { return config.solver.criterion; }));
  rows.push_back({.path = "solver.max_iterations",
                  .forms = {.integer = kCount},
                  .fallback = "1000",
                  .doc = "iterations before giving up",
                  .aliases = {"maxiter", "maxit", "max_it", "eps_max_it", "max_iters", "iterations",
                              "itr", "maxOuterIterations", "eig_max_iters"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.solver.max_iterations = *as_integer(node);
                  }});
  rows.push_back({.path = "solver.time_limit_s",
                  .forms = {.words = {"none"}, .real = Range<double>{.low = 0, .open = true}},
                  .fallback = "none",
                  .doc = "seconds of solving before giving up",
                  .aliases = {"time_limit", "timeout", "max_time", "time"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.solver.time_limit_s =
                        as_real(node).value_or(std::numeric_limits<double>::infinity());
                  }});
}

void add_solver(std::vector<KeySpec>& rows) {
  rows.push_back(
      {.path = "solver", .forms = {.section = true}, .fallback = "{}", .doc = "how it is solved"});
  rows.push_back(
      choice<SolverType>({.path = "solver.type",
                          .fallback = "lobpcg",
                          .doc = "must be the executable's",
                          .aliases = {"eps_type", "method", "algorithm", "driver", "name"}},
                         {{solver_name(SolverType::lobpcg), SolverType::lobpcg},
                          {solver_name(SolverType::block_lanczos), SolverType::block_lanczos},
                          {solver_name(SolverType::block_cg), SolverType::block_cg}},
                         [](Config& config) -> SolverType& { return config.type; }));
  rows.push_back(
      {.path = "solver.nev",
       .forms = {.integer = kCount},
       .fallback = "6",
       .doc = "eigenpairs wanted",
       .only_for = kEigensolvers,
       .aliases = {"eps_nev", "num_eigenvalues", "n_eigenvalues", "number_of_eigenvalues",
                   "num_evals", "num_eigs", "neigs", "eig_wanted_count", "ev", "k"},
       .store = [](const ConfigNode& node, Config& config) {
         config.solver.nev = *as_integer(node);
       }});
  rows.push_back(choice<Which>({.path = "solver.which",
                                .fallback = "smallest",
                                .doc = "end of the spectrum",
                                .only_for = kEigensolvers,
                                .aliases = {"eps_which", "target", "eig_which", "end", "spectrum"}},
                               {{"smallest", Which::smallest}, {"largest", Which::largest}},
                               [](Config& config) -> Which& { return config.solver.which; }));
  rows.push_back(
      {.path = "solver.block_size",
       .forms = {.words = {"auto"}, .integer = kCount},
       .fallback = "auto",
       .doc = "columns iterated at once; auto: chosen from nev",
       .aliases = {"blocksize", "max_block_size", "eps_lobpcg_blocksize", "block", "ncv"},
       .store = [](const ConfigNode& node, Config& config) {
         config.solver.block_size = as_integer(node).value_or(0);
       }});
  add_solver_limits(rows);
  rows.push_back({.path = "solver.refresh_interval",
                  .forms = {.integer = kCount},
                  .fallback = "50",
                  .doc = "iterations between fresh products with A",
                  .only_for = {SolverType::lobpcg},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.solver.refresh_interval = *as_integer(node);
                  }});
  rows.push_back({.path = "solver.preconditioner",
                  .forms = {.section = true},
                  .fallback = "{}",
                  .doc = "approximates the inverse of A",
                  .only_for = {SolverType::lobpcg, SolverType::block_cg},
                  .aliases = {"precond", "pc", "pc_type", "st_pc_type", "prec_choice"}});
  rows.push_back(choice<PreconditionerChoice>(
      {.path = "solver.preconditioner.type",
       .fallback = "auto",
       .doc = "auto: jacobi of A for the smallest end, of B for the largest end of a pencil, else "
              "none"},
      {{"auto", PreconditionerChoice::automatic},
       {"none", PreconditionerChoice::none},
       {"jacobi", PreconditionerChoice::jacobi}},
      [](Config& config) -> PreconditionerChoice& { return config.preconditioner; }));
}

void add_spmm(std::vector<KeySpec>& rows) {
  rows.push_back({.path = "spmm",
                  .forms = {.section = true},
                  .fallback = "{}",
                  .doc = "sparse matrix times block"});
  KeySpec kernel{
      .path = "spmm.kernel",
      .forms = {.words = {"auto"}},
      .fallback = "auto",
      .doc = "auto: chosen for the matrix",
      .store = [](const ConfigNode& node, Config& config) { config.spmm.kernel = node.text; }};
  const HostContext context(1);
  for (const std::string_view name : spmm_kernels(context)) {
    if (name != "auto") kernel.forms.words.push_back(name);
  }
  rows.push_back(std::move(kernel));
  rows.push_back({.path = "spmm.reorder",
                  .forms = {.words = {"auto", "none"}},
                  .fallback = "auto",
                  .doc = "row order of the matrix; the CPU kernels keep the given one"});
}

void add_machine(std::vector<KeySpec>& rows) {
  rows.push_back(
      choice<DeviceChoice>({.path = "device",
                            .fallback = "auto",
                            .doc = "where to run; auto: a GPU if this build and machine have one",
                            .aliases = {"backend", "executor"}},
                           {{"auto", DeviceChoice::automatic},
                            {"cuda", DeviceChoice::cuda},
                            {"host", DeviceChoice::host}},
                           [](Config& config) -> DeviceChoice& { return config.device; }));
  rows.push_back(choice<Precision>(
      {.path = "precision",
       .fallback = "double",
       .doc = "mixed: single precision as far as it reaches, then double",
       .aliases = {"dtype", "value_type", "scalar"}},
      {{"double", Precision::full}, {"single", Precision::single}, {"mixed", Precision::mixed}},
      [](Config& config) -> Precision& { return config.precision; }));
  rows.push_back({.path = "threads",
                  .forms = {.integer = Range<Index>{0, kMaxThreads}},
                  .fallback = "0",
                  .doc = "CPU threads; 0: all that OpenMP offers",
                  .aliases = {"num_threads", "nthreads", "omp_num_threads", "cores"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.threads = static_cast<int>(*as_integer(node));
                  }});
  rows.push_back({.path = "seed",
                  .forms = {.integer = kNatural},
                  .fallback = "42",
                  .doc = "of the random start: the same seed gives the same bits",
                  .aliases = {"iseed", "random_seed", "rng"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.solver.seed = static_cast<std::uint64_t>(*as_integer(node));
                  }});
}

void add_output(std::vector<KeySpec>& rows) {
  rows.push_back(
      {.path = "output", .forms = {.section = true}, .fallback = "{}", .doc = "what is written"});
  rows.push_back({.path = "output.directory",
                  .forms = {.folder = true},
                  .fallback = "results/{name}",
                  .doc = "folder of the results, relative to the current one; {name}: this file's",
                  .aliases = {"dir", "folder", "path"},
                  .store = [](const ConfigNode& node, Config& config) {
                    config.output.directory = node.text;
                  }});
  rows.push_back(choice<VectorFormat>(
      {.path = "output.eigenvectors",
       .fallback = "false",
       .doc = "write them, as eigenvectors.mtx (true, mtx) or eigenvectors.npy (npy)",
       .only_for = kEigensolvers,
       .aliases = {"vectors", "modes", "evecs"}},
      {{"true", VectorFormat::matrix_market},
       {"false", VectorFormat::none},
       {"mtx", VectorFormat::matrix_market},
       {"npy", VectorFormat::npy}},
      [](Config& config) -> VectorFormat& { return config.output.eigenvectors; }));
  rows.push_back(choice<bool>({.path = "output.history",
                               .fallback = "true",
                               .doc = "write history.csv, a line an iteration"},
                              {{"true", true}, {"false", false}},
                              [](Config& config) -> bool& { return config.output.history; }));
}

}  // namespace

const std::vector<KeySpec>& config_schema() {
  static const std::vector<KeySpec> schema = [] {
    std::vector<KeySpec> rows;
    add_problem(rows);
    add_solver(rows);
    add_spmm(rows);
    add_machine(rows);
    add_output(rows);
    return rows;
  }();
  return schema;
}

std::string_view solver_name(SolverType solver) noexcept {
  switch (solver) {
    case SolverType::lobpcg:
      return "lobpcg";
    case SolverType::block_lanczos:
      return "block_lanczos";
    case SolverType::block_cg:
      return "block_cg";
  }
  return "";
}

}  // namespace heddle::apps
