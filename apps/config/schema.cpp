#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/schema_row.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <heddle/spmm/select.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::apps {
namespace {

constexpr Range<Index> kCount{.low = 1};
constexpr Range<Index> kNatural{.low = 0};
constexpr Index kMaxThreads = 4096;
constexpr Index kMaxDegree = 1000;
const std::vector<SolverType> kEigensolvers = {SolverType::lobpcg, SolverType::block_lanczos};

/// All rows, a function for each section.
class Schema {
 public:
  Schema() {
    problem();
    solver();
    limits();
    preconditioner();
    spmm();
    machine();
    output();
  }

  std::vector<KeySpec> take() { return std::move(rows_); }

 private:
  using Node = const ConfigNode&;

  SchemaRow add(std::string path, std::string doc) {
    return SchemaRow(rows_, std::move(path), std::move(doc));
  }

  void matrix(const std::string& path, MatrixSource& (*source)(Config&));
  void problem();
  void solver();
  void limits();
  void preconditioner();
  void spmm();
  void machine();
  void output();

  std::vector<KeySpec> rows_;
};

/// The keys of a generated matrix, and what stores the matrix itself.
void Schema::matrix(const std::string& path, MatrixSource& (*source)(Config&)) {
  rows_.back().store = [source](Node node, Config& config) {
    MatrixSource& target = source(config);
    target.origin = node.origin;
    if (node.is_map()) {
      target.structure.emplace();
    } else {
      target.path = resolve_file(node);
    }
  };
  SchemaRow generate = add(path + ".generate", "structure to generate");
  for (const GalleryStructure& known : gallery_structures()) generate.word(known.name);
  generate.required()
      .aliases({"gallery", "structure", "name", "type"})
      .store([source](Node node, Config& config) { source(config).structure->name = node.text; });
  add(path + ".size", "its sizes, e.g. [64, 64, 64]")
      .integers(kCount)
      .required()
      .aliases({"sizes", "dimensions", "dims", "shape", "n"})
      .store([source](Node node, Config& config) {
        for (Node item : node.items) source(config).structure->size.push_back(*as_integer(item));
      });
  add(path + ".density", "mean row length or edge factor of random structures; 0: their default")
      .real({.low = 0})
      .fallback("0")
      .aliases({"nnz_per_row", "edge_factor"})
      .store([source](Node node, Config& config) {
        source(config).structure->density = *as_real(node);
      });
  add(path + ".seed", "seed of random structures")
      .integer(kNatural)
      .fallback("42")
      .store([source](Node node, Config& config) {
        source(config).structure->seed = static_cast<std::uint64_t>(*as_integer(node));
      });
}

void Schema::problem() {
  add("problem", "A x = lambda B x").section().fallback("{}");
  add("problem.matrix",
      "a Matrix Market file, relative to the file it is named in, or a structure to generate")
      .file()
      .section()
      .required()
      .aliases({"A", "file", "path", "input", "mtx", "stiffness"});
  matrix("problem.matrix", [](Config& config) -> MatrixSource& { return config.problem.matrix; });
  add("problem.mass", "B, positive definite, given like A; the identity if left out")
      .file()
      .section()
      .only_for(kEigensolvers)
      .aliases({"B", "M", "mass_matrix"});
  matrix("problem.mass", [](Config& config) -> MatrixSource& {
    std::optional<MatrixSource>& mass = config.problem.mass;
    return mass ? *mass : mass.emplace();
  });
  add("problem.transform", "what to take instead of A: the Laplacian of its graph")
      .choice<Transform>({{"none", Transform::none},
                          {"laplacian", Transform::laplacian},
                          {"normalized_laplacian", Transform::normalized_laplacian}},
                         [](Config& config) -> Transform& { return config.problem.transform; })
      .fallback("none")
      .only_for(kEigensolvers);
  add("problem.constraints", "dense Matrix Market file: eigenvectors B-orthogonal to its columns")
      .file()
      .only_for(kEigensolvers)
      .aliases({"deflation", "null_space", "Y"})
      .store([](Node node, Config& config) { config.problem.constraints = resolve_file(node); });
  add("problem.initial_guess", "dense Matrix Market file: vectors to start from")
      .file()
      .aliases({"X0", "initial_space", "guess", "start"})
      .store([](Node node, Config& config) { config.problem.initial_guess = resolve_file(node); });
  add("problem.rhs", "right-hand sides").file().section().only_for({SolverType::block_cg});
}

void Schema::solver() {
  add("solver", "how it is solved").section().fallback("{}");
  add("solver.type", "must be the executable's")
      .choice<SolverType>({{solver_name(SolverType::lobpcg), SolverType::lobpcg},
                           {solver_name(SolverType::block_lanczos), SolverType::block_lanczos},
                           {solver_name(SolverType::block_cg), SolverType::block_cg}},
                          [](Config& config) -> SolverType& { return config.type; })
      .fallback("lobpcg")
      .aliases({"eps_type", "method", "algorithm", "driver", "name"});
  add("solver.nev", "eigenpairs wanted")
      .integer(kCount)
      .fallback("6")
      .only_for(kEigensolvers)
      .aliases({"eps_nev", "num_eigenvalues", "n_eigenvalues", "number_of_eigenvalues", "num_evals",
                "num_eigs", "neigs", "eig_wanted_count", "ev", "k"})
      .store([](Node node, Config& config) { config.solver.nev = *as_integer(node); });
  add("solver.which", "end of the spectrum")
      .choice<Which>({{"smallest", Which::smallest}, {"largest", Which::largest}},
                     [](Config& config) -> Which& { return config.solver.which; })
      .fallback("smallest")
      .only_for(kEigensolvers)
      .aliases({"eps_which", "target", "eig_which", "end", "spectrum"});
  add("solver.block_size", "columns iterated at once; auto: chosen from nev")
      .word("auto")
      .integer(kCount)
      .fallback("auto")
      .aliases({"max_block_size", "eps_lobpcg_blocksize", "block", "ncv"})
      .store([](Node node, Config& config) {
        config.solver.block_size = as_integer(node).value_or(0);
      });
}

void Schema::limits() {
  add("solver.tolerance", "of the criterion; auto: 1e-8, in single precision 1e-5")
      .word("auto")
      .real({0, 1, true})
      .fallback("auto")
      .aliases({"tol", "eps_tol", "eps", "rtol", "atol", "eig_tolerance", "convergence_tolerance",
                "reduction_factor"})
      .store(
          [](Node node, Config& config) { config.solver.tolerance = as_real(node).value_or(0); });
  add("solver.criterion",
      "norm: |r| <= tol (|A| + |lambda| |B|); relative: <= tol |lambda| |B|; absolute: <= tol")
      .choice<Criterion>({{"norm", Criterion::norm},
                          {"relative", Criterion::relative},
                          {"absolute", Criterion::absolute}},
                         [](Config& config) -> Criterion& { return config.solver.criterion; })
      .fallback("norm")
      .only_for(kEigensolvers)
      .aliases({"eps_conv", "convergence", "conv_test"});
  add("solver.max_iterations", "iterations before giving up")
      .integer(kCount)
      .fallback("1000")
      .aliases({"maxiter", "maxit", "max_it", "eps_max_it", "max_iters", "iterations", "itr",
                "max_outer_iterations", "maximum_iterations", "max_matvecs", "eig_max_iters"})
      .store([](Node node, Config& config) { config.solver.max_iterations = *as_integer(node); });
  add("solver.time_limit_s", "seconds of solving before giving up")
      .word("none")
      .real({.low = 0, .open = true})
      .fallback("none")
      .aliases({"time_limit", "timeout", "max_time", "time"})
      .store([](Node node, Config& config) {
        config.solver.time_limit_s =
            as_real(node).value_or(std::numeric_limits<double>::infinity());
      });
  add("solver.refresh_interval", "iterations between fresh products with A")
      .integer(kCount)
      .fallback("50")
      .only_for({SolverType::lobpcg})
      .store([](Node node, Config& config) { config.solver.refresh_interval = *as_integer(node); });
}

void Schema::preconditioner() {
  add("solver.preconditioner", "approximates an inverse")
      .section()
      .fallback("{}")
      .only_for({SolverType::lobpcg, SolverType::block_cg})
      .aliases({"precond", "pc", "pc_type", "st_pc_type", "prec_choice"});
  add("solver.preconditioner.type",
      "from A for the smallest end, from B for the largest end of a pencil; auto: chebyshev for "
      "the "
      "smallest end, jacobi for the largest end of a pencil, else none")
      .choice<PreconditionerChoice>(
          {{"auto", PreconditionerChoice::automatic},
           {"none", PreconditionerChoice::none},
           {"jacobi", PreconditionerChoice::jacobi},
           {"chebyshev", PreconditionerChoice::chebyshev}},
          [](Config& config) -> PreconditionerChoice& { return config.preconditioner.type; })
      .fallback("auto");
  add("solver.preconditioner.degree", "of chebyshev, which multiplies one time less")
      .integer({1, kMaxDegree})
      .fallback(std::to_string(ChebyshevPreconditioner<double, HostContext>::kDefaultDegree))
      .aliases({"order", "poly_deg", "polynomial_degree"})
      .store([](Node node, Config& config) {
        config.preconditioner.degree = static_cast<int>(*as_integer(node));
      });
}

void Schema::spmm() {
  add("spmm", "sparse matrix times block").section().fallback("{}");
  SchemaRow kernel =
      add("spmm.kernel",
          "auto and rule: chosen for the matrix; measure: the fastest on it; a name: "
          "of a kernel that the device has");
  for (const std::string_view way : spmm_choices()) kernel.word(way);
  const HostContext context(1);
  for (const std::string_view name : spmm_kernels(context)) kernel.word(name);
  for (const std::string_view name : cuda_kernel_names()) {
    if (name != name_of(CudaKernel::row_split)) kernel.word(name);  // a name on the host, too
  }
  kernel.fallback("auto").store([](Node node, Config& config) { config.spmm.kernel = node.text; });
  add("spmm.reorder", "row order of the matrix; the CPU kernels keep the given one")
      .word("auto")
      .word("none")
      .fallback("auto");
}

void Schema::machine() {
  add("device", "where to run; auto: a GPU if this build and machine have one")
      .choice<DeviceChoice>({{"auto", DeviceChoice::automatic},
                             {"cuda", DeviceChoice::cuda},
                             {"host", DeviceChoice::host}},
                            [](Config& config) -> DeviceChoice& { return config.device; })
      .fallback("auto")
      .aliases({"backend", "executor"});
  add("precision", "mixed: single precision as far as it reaches, then double")
      .choice<Precision>(
          {{"double", Precision::full}, {"single", Precision::single}, {"mixed", Precision::mixed}},
          [](Config& config) -> Precision& { return config.precision; })
      .fallback("double")
      .aliases({"dtype", "value_type", "scalar"});
  add("threads", "CPU threads; 0: all that OpenMP offers")
      .integer({0, kMaxThreads})
      .fallback("0")
      .aliases({"num_threads", "nthreads", "omp_num_threads", "cores"})
      .store(
          [](Node node, Config& config) { config.threads = static_cast<int>(*as_integer(node)); });
  add("seed", "of the random start: the same seed gives the same bits")
      .integer(kNatural)
      .fallback("42")
      .aliases({"iseed", "random_seed", "rng"})
      .store([](Node node, Config& config) {
        config.solver.seed = static_cast<std::uint64_t>(*as_integer(node));
      });
}

void Schema::output() {
  add("output", "what is written").section().fallback("{}");
  add("output.directory", "folder of the results, relative to the current one; {name}: this file's")
      .folder()
      .fallback("results/" + std::string(kNamePlaceholder))
      .aliases({"dir", "folder", "path"})
      .store([](Node node, Config& config) { config.output.directory = node.text; });
  add("output.eigenvectors", "write them, as eigenvectors.mtx (true, mtx) or eigenvectors.npy")
      .choice<VectorFormat>(
          {{"true", VectorFormat::matrix_market},
           {"false", VectorFormat::none},
           {"mtx", VectorFormat::matrix_market},
           {"npy", VectorFormat::npy}},
          [](Config& config) -> VectorFormat& { return config.output.eigenvectors; })
      .fallback("false")
      .only_for(kEigensolvers)
      .aliases({"vectors", "modes", "evecs"});
  add("output.history", "write history.csv, a line an iteration")
      .choice<bool>({{"true", true}, {"false", false}},
                    [](Config& config) -> bool& { return config.output.history; })
      .fallback("true");
}

}  // namespace

const std::vector<KeySpec>& config_schema() {
  static const std::vector<KeySpec> schema = Schema().take();
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
