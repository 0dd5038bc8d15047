#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/schema_row.hpp>
#include <heddle/apps/config/solver_schema.hpp>
#include <heddle/linalg/formats/formats.hpp>

namespace heddle::apps {
namespace {

/// The first extension of each format of matrices, or of dense blocks, e.g. ".mtx, .npy".
std::string usual_extensions(bool for_blocks) {
  std::string list;
  for (const FileFormat& format : file_formats()) {
    if (for_blocks && !format.holds_blocks) continue;
    list.append(list.empty() ? "" : ", ").append(format.extensions.front());
  }
  return list;
}

/// Collects all rows of the schema, one member function per section.
class Schema {
 public:
  Schema() {
    problem();
    near_null();
    right_hand_sides();
    add_solver_rows(rows_);
    add("spmm", "sparse matrix times block").section().fallback("{}");
    add_request_rows(rows_, "spmm");
    add_request_rows(rows_, "");
    output();
    add("checkpoint", "what --resume goes on from after a stop, with the same bits")
        .section()
        .aliases({"restart", "resume"});
    add_request_rows(rows_, "checkpoint");
  }

  std::vector<KeySpec> take() { return std::move(rows_); }

 private:
  using Node = const ConfigNode&;

  SchemaRow add(std::string path, std::string doc) {
    return SchemaRow(rows_, std::move(path), std::move(doc));
  }

  void matrix(const std::string& path, MatrixSource& (*source)(Config&));
  void problem();
  void geometric_stiffness();
  void near_null();
  void transforms();
  void right_hand_sides();
  void output();

  std::vector<KeySpec> rows_;
};

/// The keys of a generated matrix, and the function that stores the matrix source.
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
  add("problem", "A x = lambda B x, A X = B, or min |B - A X|").section().fallback("{}");
  add("problem.matrix", "a file (" + usual_extensions(false) +
                            "), relative to the file it is named in, SuiteSparse:GROUP/NAME, or a "
                            "structure to generate")
      .file()
      .section()
      .required()
      .aliases({"A", "file", "path", "input", "mtx", "stiffness"});
  matrix("problem.matrix", [](Config& config) -> MatrixSource& { return config.problem.matrix; });
  add("problem.mass",
      "B, positive definite, given like A; the identity if left out. block_lanczos divides by "
      "it: at once where it is diagonal, else by its factor or an inner solve to rounding; at the "
      "smallest end it takes a semidefinite B, too")
      .file()
      .section()
      .only_for(kEigensolvers)
      .option("--mass")
      .aliases({"B", "M", "mass_matrix"});
  matrix("problem.mass", [](Config& config) -> MatrixSource& {
    std::optional<MatrixSource>& mass = config.problem.mass;
    return mass ? *mass : mass.emplace();
  });
  geometric_stiffness();
  transforms();
  add("problem.first_line",
      "what the first line of an edge list holds: an edge, or the sizes of the list; auto: an "
      "edge, and a line that may be either is refused")
      .choice<FirstLine>(
          {{"auto", FirstLine::automatic}, {"edge", FirstLine::edge}, {"sizes", FirstLine::sizes}},
          [](Config& config) -> FirstLine& { return config.problem.first_line; })
      .fallback("auto")
      .aliases({"header"})
      .option("--first-line");
  add("problem.constraints",
      "dense file (" + usual_extensions(true) + "): eigenvectors B-orthogonal to its columns")
      .file()
      .only_for(kEigensolvers)
      .option("--constraints")
      .aliases({"deflation", "null_space", "Y"})
      .store([](Node node, Config& config) { config.problem.constraints = resolve_file(node); });
  add("problem.initial_guess",
      "dense file (" + usual_extensions(true) +
          "): vectors to start from, for block_cg as many as right-hand sides")
      .file()
      .option("--initial-guess")
      .aliases({"X0", "initial_space", "guess", "start"})
      .store([](Node node, Config& config) { config.problem.initial_guess = resolve_file(node); });
}

void Schema::geometric_stiffness() {
  add("problem.geometric_stiffness",
      "K_g of a structure with the stiffness A under a reference load, given like A; eigenvalues: "
      "the load factors lambda of A x = -lambda K_g x, smallest first, positive ones unless "
      "solver.side says both or below; A positive definite")
      .file()
      .section()
      .only_for({SolverType::block_lanczos, SolverType::automatic})
      .option("--buckling")
      .aliases({"K_g", "KG", "geometric", "stress_stiffness", "initial_stress", "buckling"});
  matrix("problem.geometric_stiffness", [](Config& config) -> MatrixSource& {
    std::optional<MatrixSource>& geometric = config.problem.geometric_stiffness;
    return geometric ? *geometric : geometric.emplace();
  });
}

/// Keys of what preconditioners may know of A.
void Schema::near_null() {
  const std::vector<SolverType> preconditioned = {SolverType::lobpcg, SolverType::block_cg,
                                                  SolverType::automatic};
  add("problem.coordinates",
      "dense file (" + usual_extensions(true) +
          "): a row of 2 or 3 numbers per node of an elastic body, whose rigid body motions "
          "multigrid represents exactly; the matrix has 2 or 3 rows per node (displacements), or 3 "
          "or 6 (angles, too), node by node; generated bodies have theirs")
      .file()
      .only_for(preconditioned)
      .tuning()
      .option("--coordinates")
      .aliases({"coords", "nodes", "points", "mesh", "xyz"})
      .store([](Node node, Config& config) { config.problem.coordinates = resolve_file(node); });
  add("problem.near_null",
      "dense file (" + usual_extensions(true) +
          "): vectors that A nearly maps to zero away from the boundary, which multigrid "
          "represents "
          "exactly; without it and coordinates: constants, one per unknown of a node")
      .file()
      .only_for(preconditioned)
      .tuning()
      .option("--near-null")
      .aliases({"near_null_space", "near_nullspace", "nearnullspace", "rigid_body_modes"})
      .store([](Node node, Config& config) { config.problem.near_null = resolve_file(node); });
}

void Schema::transforms() {
  const auto transform = [this](std::string doc, Words<Transform> words,
                                std::vector<SolverType> solvers) {
    add("problem.transform", std::move(doc))
        .choice<Transform>(std::move(words),
                           [](Config& config) -> Transform& { return config.problem.transform; })
        .fallback("none")
        .only_for(std::move(solvers))
        .option("--transform");
  };
  transform(
      "what to take instead of A: the Laplacian of its graph; normal_equations: A^T A, for the "
      "singular triplets of an A of any shape",
      {{"none", Transform::none},
       {"laplacian", Transform::laplacian},
       {"normalized_laplacian", Transform::normalized_laplacian},
       {"normal_equations", Transform::normal_equations}},
      kEigensolvers);
  transform(
      "normal_equations: least squares, min |b - A x|, for an A of any shape, by A^T A as an "
      "operator",
      {{"none", Transform::none}, {"normal_equations", Transform::normal_equations}},
      {SolverType::block_cg});
  add("problem.weights", "edge weights of a graph Laplacian: the entries of A, or 1 for each")
      .choice<EdgeWeights>({{"stored", EdgeWeights::stored}, {"unit", EdgeWeights::unit}},
                           [](Config& config) -> EdgeWeights& { return config.problem.weights; })
      .fallback("stored")
      .only_for(kEigensolvers)
      .option("--weights");
  add("problem.symmetrize",
      "true: a graph Laplacian takes a directed graph, both directions of an edge get the larger "
      "of the two weights; average: (A + A^T)/2 in place of A, and the same of the other matrix, "
      "which printing has made unsymmetric")
      .choice<Symmetrize>({{"true", Symmetrize::larger},
                           {"false", Symmetrize::none},
                           {"average", Symmetrize::average}},
                          [](Config& config) -> Symmetrize& { return config.problem.symmetrize; })
      .fallback("false")
      .aliases({"symmetrized", "undirected"})
      .option("--symmetrize");
}

void Schema::right_hand_sides() {
  add("problem.rhs", "right-hand sides, columns of B: a dense file (" + usual_extensions(true) +
                         "), or their kind")
      .file()
      .section()
      .one_key()
      .required()
      .only_for({SolverType::block_cg})
      .option("--rhs")
      .aliases({"b", "right_hand_side", "right_hand_sides", "load", "loads"})
      .store([](Node node, Config& config) {
        if (node.is_scalar()) config.problem.rhs.path = resolve_file(node);
      });
  add("problem.rhs.random", "number of random columns, entries uniform in (-1, 1)")
      .integer(kCount)
      .store([](Node node, Config& config) { config.problem.rhs.random = *as_integer(node); });
  add("problem.rhs.ones", "number of columns of ones")
      .integer(kCount)
      .store([](Node node, Config& config) { config.problem.rhs.ones = *as_integer(node); });
  add("problem.rhs.unit", "a unit vector for each of these rows, counted from 1, e.g. [1, 17]")
      .integers(kCount)
      .store([](Node node, Config& config) {
        for (Node item : node.items) config.problem.rhs.unit.push_back(*as_integer(item));
      });
}

void Schema::output() {
  add("output", "what is written").section().fallback("{}");
  add("output.directory",
      "folder of the results, relative to the current one; it, checkpoint.file and output.log may "
      "hold {name}, of this file, {solver}, {matrix}, the file or structure of A, and {date}, of "
      "the start in UTC")
      .folder()
      .fallback(std::string(kDefaultDirectory))
      .option("-o,--output")
      .aliases({"dir", "folder", "path"})
      .store([](Node node, Config& config) { config.output.directory = node.text; });
  const auto vectors = [this](const std::string& name, std::vector<SolverType> solvers,
                              const std::string& more = "") {
    return add("output." + name, "write as " + name + ".mtx (true, mtx) or " + name + ".npy" + more)
        .choice<VectorFormat>({{"true", VectorFormat::matrix_market},
                               {"false", VectorFormat::none},
                               {"mtx", VectorFormat::matrix_market},
                               {"npy", VectorFormat::npy}},
                              [](Config& config) -> VectorFormat& { return config.output.vectors; })
        .fallback("false")
        .only_for(std::move(solvers));
  };
  vectors("eigenvectors", kEigensolvers,
          "; with transform: normal_equations left_vectors and right_vectors")
      .option("--eigenvectors")
      .aliases({"vectors", "modes", "evecs"});
  vectors("solution", {SolverType::block_cg})
      .option("--solution")
      .aliases({"x", "solutions", "vectors"});
  add("output.history",
      "write history.csv while it runs, a line per iteration; pairs: also pairs.csv, a line per "
      "iteration and pair")
      .choice<HistoryDetail>({{"true", HistoryDetail::iterations},
                              {"false", HistoryDetail::none},
                              {"pairs", HistoryDetail::pairs}},
                             [](Config& config) -> HistoryDetail& { return config.output.history; })
      .fallback("true");
  add("output.unit",
      "of the frequencies sqrt(lambda)/(2 pi) in the table, for matrices in seconds; cycles: per "
      "unit of time of the matrices; none: eigenvalues alone; auto: cycles with a mass matrix, "
      "else "
      "none. result.json has cycles")
      .choice<FrequencyUnit>({{"auto", FrequencyUnit::automatic},
                              {"cycles", FrequencyUnit::cycles},
                              {"Hz", FrequencyUnit::hertz},
                              {"kHz", FrequencyUnit::kilohertz},
                              {"rad/s", FrequencyUnit::radians},
                              {"none", FrequencyUnit::none}},
                             [](Config& config) -> FrequencyUnit& { return config.output.unit; })
      .fallback("auto")
      .only_for(kEigensolvers)
      .option("--unit")
      .aliases({"units", "frequency_unit"});
  add("output.log", "file to which header, stages, progress, results and errors are appended")
      .new_file()
      .option("--log")
      .aliases({"logfile", "log_file"})
      .store([](Node node, Config& config) { config.output.log = node.text; });
}

/// Restricts every key to the solvers of its section.
void inherit_owners(std::vector<KeySpec>& rows) {
  for (KeySpec& row : rows) {
    for (const KeySpec& section : rows) {
      if (section.path == row.section() && row.only_for.empty()) row.only_for = section.only_for;
    }
  }
}

}  // namespace

const std::vector<KeySpec>& config_schema() {
  static const std::vector<KeySpec> schema = [] {
    std::vector<KeySpec> rows = Schema().take();
    inherit_owners(rows);
    return rows;
  }();
  return schema;
}

}  // namespace heddle::apps
