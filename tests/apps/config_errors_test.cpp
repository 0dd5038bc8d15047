#include <fmt/format.h>
#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <filesystem>
#include <fstream>
#include <heddle/apps/config/settings.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {
using test::error_of;

const std::string kSolverKeys =
    "type, nev, which, block_size, tolerance, criterion, max_iterations, time_limit_s, "
    "start, refresh_interval, certify, preconditioner";
const std::string kTopKeys =
    "problem, solver, spmm, device, devices, precision, threads, "
    "distribution, seed, output, checkpoint";

/// The message for a value of a solver key, which stands on line 2, column 10 + its name's length.
std::string solver_value(const std::string& key, const std::string& value) {
  return error_of("problem: {matrix: a.mtx}\nsolver: {" + key + ": " + value + "}");
}

TEST(ConfigErrors, AnUnknownKeyNamesPlaceNearestAndValidOnes) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver:\n  type: lobpcg\n  nve: 10\n"),
            "case.yaml:4:3: unknown key 'nve' in solver (did you mean 'nev'?); valid keys: " +
                kSolverKeys);
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolvr: {}\n"),
            "case.yaml:2:1: unknown key 'solvr' at the top level (did you mean 'solver'?); valid "
            "keys: " +
                kTopKeys);
  EXPECT_EQ(error_of("problem: {matrix: {generate: laplace1d, sise: [3]}}"),
            "case.yaml:1:41: unknown key 'sise' in problem.matrix (did you mean 'size'?); valid "
            "keys: generate, size, density, seed");
  EXPECT_EQ(error_of("problem: {matrix: a}\nzzzzzzzz: 1"),
            "case.yaml:2:1: unknown key 'zzzzzzzz' at the top level; valid keys: " + kTopKeys);
}

TEST(ConfigErrors, KeysOfOtherPackagesAreUnderstood) {
  const auto meant = [](const std::string& key) {
    const std::string message = solver_value(key, "1");
    const auto from = message.find("mean '") + 6;
    return message.substr(from, message.find('\'', from) - from);
  };
  for (const char* key : {"eps_nev", "num_eigenvalues", "numEvals", "ev", "k", "num-eigs"}) {
    EXPECT_EQ(meant(key), "nev") << key;
  }
  for (const char* key : {"tol", "eps_tol", "rtol", "Convergence Tolerance", "eig_tolerance"}) {
    EXPECT_EQ(meant(key), "tolerance") << key;
  }
  EXPECT_EQ(meant("ncv"), "block_size");
  EXPECT_EQ(meant("maxBlockSize"), "block_size");
  EXPECT_EQ(meant("eps_max_it"), "max_iterations");
  EXPECT_EQ(meant("maxiter"), "max_iterations");
  EXPECT_EQ(meant("timeout"), "time_limit_s");
  EXPECT_EQ(meant("precond"), "preconditioner");
}

TEST(ConfigErrors, WordsOfOtherPackagesAreUnderstood) {
  const auto meant = [](const std::string& yaml) {
    const std::string message = error_of("problem: {matrix: a.mtx}\n" + yaml);
    const auto from = message.find("(did you mean ");
    return from == std::string::npos ? message : message.substr(from + 14);
  };
  EXPECT_EQ(meant("device: gpu"), "'cuda'?)");
  EXPECT_EQ(meant("device: CPU"), "'host'?)");
  EXPECT_EQ(meant("device: Cuda"), "'cuda'?)");
  EXPECT_EQ(meant("precision: float32"), "'single'?)");
  for (const char* word : {"SA", "SR", "smallest_real"}) {
    EXPECT_EQ(meant(std::string("solver: {which: ") + word + "}"), "'smallest'?)") << word;
  }
  EXPECT_EQ(meant("solver: {which: LA}"), "'largest'?)");
  EXPECT_EQ(meant("solver: {which: SM}").rfind("'smallest', those of least value", 0), 0u);
  EXPECT_EQ(meant("solver: {which: LM}").rfind("'largest', those of largest value", 0), 0u);
  EXPECT_EQ(meant("solver: {type: krylovschur}"), "'block_lanczos'?)");
  EXPECT_EQ(meant("solver: {preconditioner: jacobi}"), "'type' with the value 'jacobi'?)");
  EXPECT_EQ(meant("solver: {preconditioner: icc}"),
            "'type' with the value 'incomplete_cholesky'?)");
  EXPECT_EQ(meant("solver: {preconditioner: {type: bjacobi}}"), "'block_jacobi'?)");
  EXPECT_EQ(meant("output: {history: yes}"), "'true'?)");
  EXPECT_EQ(meant("solver: {which: nonsense}").rfind("case.yaml:2:17: ", 0), 0u);
}

TEST(ConfigErrors, AKeyInTheWrongSectionIsSentToItsOwn) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nnev: 4"),
            "case.yaml:2:1: unknown key 'nev' at the top level (did you mean 'solver.nev'?); valid "
            "keys: " +
                kTopKeys);
  EXPECT_EQ(
      solver_value("seed", "4"),
      "case.yaml:2:10: unknown key 'seed' in solver (did you mean 'seed' at the top level?); valid "
      "keys: " +
          kSolverKeys);
  EXPECT_NE(error_of("problem: {matrix: a.mtx}\ntol: 4").find("'solver.tolerance'"),
            std::string::npos);
}

TEST(ConfigErrors, NoKeyIsAcceptedThatDoesNothing) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nspmm: {layout: none}"),
            "case.yaml:2:8: unknown key 'layout' in spmm; valid keys: kernel, reorder, cache");
}

TEST(ConfigErrors, KeysOfOtherSolvers) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx, rhs: b.mtx}"),
            "case.yaml:1:26: problem.rhs belongs to block_cg, this file is for lobpcg");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver: {type: block_cg, nonsense: 1}"),
            "case.yaml:2:16: solver.type is block_cg, heddle-lobpcg solves with lobpcg; run "
            "heddle-cg, or heddle solve for any type");
}

TEST(ConfigErrors, KeysThatAskForAnotherProblemAreNotPutAsideByTypeAuto) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx, rhs: b.mtx}\nsolver: {type: auto, nev: 3}", {},
                     SolverType::automatic),
            "case.yaml:2:22: solver.nev belongs to lobpcg and block_lanczos, this file is for "
            "block_cg");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver: {type: auto, interval: [0, 1]}"),
            "case.yaml:2:22: solver.interval belongs to block_lanczos, this file is for lobpcg");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx, constraints: c.mtx}\n"
                     "solver: {which: interval, interval: [0, 1]}",
                     {}, SolverType::automatic),
            "case.yaml:1:39: problem.constraints does not go with which: interval");
}

TEST(ConfigErrors, AnUnknownKeyOfTypeAutoIsComparedWithTheKeysOfAllMethods) {
  const std::string error =
      error_of("problem: {matrix: a.mtx, rsh: b.mtx}", {}, SolverType::automatic);
  EXPECT_NE(error.find("(did you mean 'rhs'?)"), std::string::npos) << error;
  EXPECT_NE(error.find("constraints"), std::string::npos) << error;
}

TEST(ConfigErrors, APreconditionerThatHidesWhatIsWanted) {
  const std::string solver = "solver: {which: largest, preconditioner: {type: chebyshev}}";
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\n" + solver),
            "case.yaml:2:49: solver.preconditioner.type: chebyshev is for the smallest end and for "
            "pencils; use auto or none for the largest end of a single matrix");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx, mass: b.mtx}\n" + solver), "");
  const std::string factor =
      "solver: {which: largest, preconditioner: {type: incomplete_cholesky}}";
  EXPECT_NE(error_of("problem: {matrix: a.mtx}\n" + factor).find("incomplete_cholesky is for the"),
            std::string::npos);
}

TEST(ConfigErrors, OptionsOfOtherPreconditioners) {
  const auto refused = [](const std::string& preconditioner, const std::string& problem = "",
                          SolverType solver = SolverType::lobpcg) {
    return error_of("problem: {matrix: a.mtx" + problem + "}\nsolver: {preconditioner: {" +
                        preconditioner + "}}",
                    {}, solver);
  };
  const std::string of_jacobi = " does not go with solver.preconditioner.type: jacobi";
  const std::string path = "solver.preconditioner.";
  EXPECT_EQ(refused("degree: 5, type: jacobi"), "case.yaml:2:35: " + path + "degree" + of_jacobi);
  EXPECT_EQ(refused("block_size: 4, type: jacobi"),
            "case.yaml:2:39: " + path + "block_size" + of_jacobi);
  EXPECT_EQ(refused("triangular_solve: levels, type: jacobi"),
            "case.yaml:2:45: " + path + "triangular_solve" + of_jacobi);
  EXPECT_EQ(refused("degree: 5, type: none"),
            "case.yaml:2:35: " + path + "degree does not go with solver.preconditioner.type: none");
  EXPECT_EQ(refused("block_size: 5"), "case.yaml:2:39: " + path +
                                          "block_size does not go with "
                                          "solver.preconditioner.type: auto, which is chebyshev");
  EXPECT_EQ(refused("degree: 5"), "");
  EXPECT_EQ(refused("degree: auto, block_size: auto, triangular_solve: auto, type: jacobi"), "");
  const std::string least_squares = ", rhs: b.mtx, transform: normal_equations";
  EXPECT_EQ(refused("degree: 5", least_squares, SolverType::block_cg),
            "case.yaml:2:35: " + path +
                "degree does not go with solver.preconditioner.type: auto, which is none");
  EXPECT_EQ(refused("degree: 5", ", rhs: b.mtx", SolverType::block_cg), "");
}

TEST(ConfigErrors, RightHandSides) {
  const auto refused = [](const std::string& rhs) {
    return error_of("problem: {matrix: a.mtx" + rhs + "}", {}, SolverType::block_cg);
  };
  EXPECT_EQ(refused(""),
            "case.yaml:1:10: problem.rhs is missing: right-hand sides, columns of B: a dense "
            "file (.mtx, .npy, .npz), or their kind");
  EXPECT_EQ(refused(", rhs: {}"),
            "case.yaml:1:31: problem.rhs: expected one key from {random, ones, unit}, got 0");
  EXPECT_EQ(refused(", rhs: {random: 2, ones: 1}"),
            "case.yaml:1:31: problem.rhs: expected one key from {random, ones, unit}, got 2");
  EXPECT_EQ(refused(", rhs: {unit: [0]}"),
            "case.yaml:1:38: problem.rhs.unit: expected a list of integers of at least 1, got the "
            "list [0]");
  EXPECT_EQ(refused(", rhs: {random: 0}"),
            "case.yaml:1:40: problem.rhs.random: expected an integer of at least 1, got '0'");
}

TEST(ConfigErrors, AnAbsoluteCriterionNeedsATolerance) {
  const std::string absolute = "\nsolver: {criterion: absolute}";
  const std::string refusal = "case.yaml:2:21: solver.criterion: absolute needs a solver.tolerance";
  for (const std::string transform : {"none", "normal_equations"}) {
    const std::string matrix = "problem: {matrix: a.mtx, transform: " + transform;
    EXPECT_EQ(error_of(matrix + ", rhs: b.mtx}" + absolute, {}, SolverType::block_cg), refusal);
    for (const SolverType solver : {SolverType::lobpcg, SolverType::block_lanczos}) {
      EXPECT_EQ(error_of(matrix + "}" + absolute, {}, solver), refusal);
      EXPECT_EQ(error_of(matrix + "}" + absolute, {"solver.tolerance=1e-3"}, solver), "");
    }
  }
}

TEST(ConfigErrors, KeysThatBlockLanczosHasNot) {
  const auto refused = [](const std::string& solver) {
    return error_of("problem: {matrix: a.mtx}\nsolver: {" + solver + "}", {},
                    SolverType::block_lanczos);
  };
  EXPECT_EQ(refused("preconditioner: {type: jacobi}"),
            "case.yaml:2:10: solver.preconditioner belongs to lobpcg and block_cg, this file is "
            "for block_lanczos");
  EXPECT_EQ(refused("criterion: relativ"),
            "case.yaml:2:21: solver.criterion: expected eigenvalue, norm, relative or absolute, "
            "got 'relativ' "
            "(did you mean 'relative'?)");
  EXPECT_EQ(refused("ncv: 20").substr(0, 75),
            "case.yaml:2:10: unknown key 'ncv' in solver (did you mean 'max_basis'?); va");
}

TEST(ConfigErrors, WrongTypes) {
  EXPECT_EQ(solver_value("nev", "ten"),
            "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got 'ten'");
  EXPECT_EQ(solver_value("nev", "10.5"),
            "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got '10.5'");
  EXPECT_EQ(solver_value("nev", "\"10\""),
            "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got the string "
            "\"10\"");
  EXPECT_EQ(
      solver_value("nev", "[1, 2]"),
      "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got the list [1, 2]");
  EXPECT_EQ(solver_value("nev", "{a: 1}"),
            "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got a map");
  EXPECT_EQ(solver_value("which", "smalest"),
            "case.yaml:2:17: solver.which: expected smallest or largest, got 'smalest' (did you "
            "mean 'smallest'?)");
  EXPECT_EQ(solver_value("preconditioner", "{precision: quarter}"),
            "case.yaml:2:38: solver.preconditioner.precision: expected auto, double, single, half, "
            "bf16 or tf32, got 'quarter'");
  EXPECT_EQ(
      solver_value("preconditioner", "jacobi"),
      "case.yaml:2:26: solver.preconditioner: expected a map with keys from {type, precision, "
      "degree, block_size, triangular_solve, unknowns}, got 'jacobi' (did you mean 'type' with the "
      "value "
      "'jacobi'?)");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\noutput: {history: maybe}"),
            "case.yaml:2:19: output.history: expected true, false or pairs, got 'maybe'");
  EXPECT_EQ(error_of("problem: {matrix: [a.mtx]}"),
            "case.yaml:1:19: problem.matrix: expected a file name or a map with keys from "
            "{generate, size, density, seed}, got the list [a.mtx]");
  EXPECT_EQ(error_of("problem: {matrix: {generate: laplace1d, size: 5}}"),
            "case.yaml:1:47: problem.matrix.size: expected a list of integers of at least 1, got "
            "'5'");
  EXPECT_EQ(
      error_of("problem: a.mtx"),
      "case.yaml:1:10: problem: expected a map with keys from {matrix, mass, transform, "
      "weights, symmetrize, first_line, constraints, initial_guess, coordinates, near_null}, got "
      "'a.mtx'");
}

TEST(ConfigErrors, NumbersOutOfRange) {
  const std::string count = "expected an integer of at least 1, got ";
  for (const char* value : {"0", "-3", "99999999999999999999", "1e3"}) {
    EXPECT_EQ(solver_value("nev", value),
              "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got '" +
                  std::string(value) + "'");
  }
  for (const char* value : {"0", "-1e-8", "1", "2", "nan", "inf", ".inf", "1e-999"}) {
    EXPECT_EQ(solver_value("tolerance", value),
              std::string("case.yaml:2:21: solver.tolerance: expected auto or a number above 0 and "
                          "below 1, got '") +
                  value + "'");
  }
  EXPECT_EQ(solver_value("time_limit_s", "-5"),
            "case.yaml:2:24: solver.time_limit_s: expected none or a number above 0, got '-5'");
  EXPECT_EQ(solver_value("max_iterations", "-5"),
            "case.yaml:2:26: solver.max_iterations: " + count + "'-5'");
  EXPECT_EQ(solver_value("block_size", "0"),
            "case.yaml:2:22: solver.block_size: expected auto or an integer of at least 1, got "
            "'0'");
  EXPECT_EQ(error_of("problem: {matrix: a}\nthreads: -1"),
            "case.yaml:2:10: threads: expected an integer from 0 to 4096, got '-1'");
  EXPECT_EQ(error_of("problem: {matrix: {generate: laplace1d, size: [5, 0]}}"),
            "case.yaml:1:47: problem.matrix.size: expected a list of integers of at least 1, got "
            "the list [5, 0]");
  EXPECT_EQ(error_of("problem: {matrix: {generate: rmat, size: [5], density: -1}}"),
            "case.yaml:1:56: problem.matrix.density: expected a number of at least 0, got '-1'");
}

TEST(ConfigErrors, Checkpoints) {
  const std::string problem = "problem: {matrix: a.mtx}\n";
  EXPECT_EQ(error_of(problem + "checkpoint: {every_s: 10}"),
            "case.yaml:2:13: checkpoint.file is missing: file that holds the state of the solve, "
            "relative to the current folder; deleted once converged");
  EXPECT_EQ(error_of(problem + "checkpoint: {file: state, every_s: -1}"),
            "case.yaml:2:36: checkpoint.every_s: expected a number of at least 0, got '-1'");
  EXPECT_EQ(error_of(problem + "checkpoint: {file: state}\nprecision: mixed"),
            "case.yaml:2:20: checkpoint.file does not go with precision: mixed");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx, transform: normal_equations}\n"
                     "checkpoint: {file: state}"),
            "case.yaml:2:20: checkpoint.file does not go with transform: normal_equations");
  EXPECT_EQ(error_of(problem + "solver: {which: interval, interval: [0, 1]}\n"
                               "checkpoint: {file: state}",
                     {}, SolverType::block_lanczos),
            "case.yaml:3:20: checkpoint.file does not go with which: interval");
}

TEST(ConfigErrors, AnEmptySectionMeansItsDefaults) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver:\noutput:\n"), "");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver: ~\n"), "");
}

TEST(ConfigErrors, MissingValuesAndKeys) {
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver:\n  nev:\n  which: largest\n"),
            "case.yaml:3:3: solver.nev has no value, expected auto or an integer of at least 1");
  EXPECT_EQ(error_of("problem: {matrix: ~}"),
            "case.yaml:1:11: problem.matrix has no value, expected a file name or a map with keys "
            "from {generate, size, density, seed}");
  const std::string missing =
      "problem.matrix is missing: a file (.mtx, .npy, .npz, .txt), relative to the file it is "
      "named in, SuiteSparse:GROUP/NAME, or a structure to generate";
  EXPECT_EQ(error_of("solver: {nev: 3}"), "case.yaml:1:1: " + missing);
  EXPECT_EQ(error_of("solver: {nev: 3}\nproblem: {transform: none}"), "case.yaml:2:10: " + missing);
  EXPECT_EQ(error_of("problem: {matrix: {size: [3]}}"),
            "case.yaml:1:19: problem.matrix.generate is missing: structure to generate");
  EXPECT_EQ(error_of("problem: {matrix: {generate: laplace1d}}"),
            "case.yaml:1:19: problem.matrix.size is missing: its sizes, e.g. [64, 64, 64]");
  EXPECT_EQ(error_of("problem: {matrix: ''}"),
            "case.yaml:1:19: problem.matrix: expected a file name or a map with keys from "
            "{generate, size, density, seed}, got the string \"\"");
}

TEST(ConfigErrors, WhatIsNotAConfiguration) {
  EXPECT_EQ(error_of(""), "case.yaml: is empty");
  EXPECT_EQ(error_of("# nothing but a comment\n"), "case.yaml: is empty");
  EXPECT_EQ(error_of("just words"),
            "case.yaml:1:1: expected a map of keys (" + kTopKeys + "), got 'just words'");
  EXPECT_EQ(error_of("- a\n- b\n"),
            "case.yaml:1:1: expected a map of keys (" + kTopKeys + "), got the list [a, b]");
  EXPECT_EQ(error_of("problem: {matrix: a}\n---\nsolver: {nev: 2}\n"),
            "case.yaml:2:1: a second document begins here, a configuration has one");
}

TEST(ConfigErrors, UnreadableYaml) {
  const auto starts = [](const std::string& text, const std::string& beginning) {
    const std::string message = error_of(text);
    EXPECT_EQ(message.substr(0, beginning.size()), beginning) << message;
  };
  starts("problem: {matrix: a.mtx\nsolver: {nev: 2}\n", "case.yaml:2:7: not readable as YAML: ");
  starts("problem:\n  matrix: a\n mass: b\n", "case.yaml:3:2: not readable as YAML: ");
  starts("problem:\n\tmatrix: a\n", "case.yaml:2:8: not readable as YAML: ");
  starts("problem: {matrix: *nowhere}", "case.yaml:1:19: not readable as YAML: ");
  starts("problem: {matrix: \"a.mtx}", "case.yaml:1:26: not readable as YAML: ");
}

TEST(ConfigErrors, DuplicateKeysOddKeysAndTags) {
  EXPECT_EQ(error_of("problem: {matrix: a}\nsolver:\n  nev: 2\n  which: largest\n  nev: 3\n"),
            "case.yaml:5:3: key 'nev' is given twice, first on line 3");
  EXPECT_EQ(error_of("problem: {matrix: a}\nsolver: {[1, 2]: 3}\n"),
            "case.yaml:2:10: a key must be a word");
  EXPECT_EQ(error_of("problem: {matrix: !secret a}"), "case.yaml:1:19: unknown tag '!secret'");
  EXPECT_EQ(error_of("problem: {matrix: a}\nsolver: {<<: 3}"),
            "case.yaml:2:14: '<<' takes a map or a list of maps");
}

TEST(ConfigErrors, AliasesCannotGrowBeyondBounds) {
  std::string bomb = "problem: &a0 [x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = fmt::format("*a{}", i - 1);
    bomb += fmt::format("k{0}: &a{0} [{1}]\n", i, fmt::join(std::vector(10, last), ", "));
  }
  EXPECT_NE(error_of(bomb).find("more than any configuration holds"), std::string::npos);
  EXPECT_NE(error_of("problem: &p {matrix: *p}").find("an alias inside the value it stands for"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(100000, '[')).find("nested more than 32 levels deep"),
            std::string::npos);
}

TEST(ConfigErrors, OverridesAreNamedAsTheyWereGiven) {
  const std::string text = "problem: {matrix: a.mtx}";
  EXPECT_EQ(error_of(text, {"solver.nve=20"}),
            "--set solver.nve=20: unknown key 'nve' in solver (did you mean 'nev'?); valid keys: " +
                kSolverKeys);
  EXPECT_EQ(error_of(text, {"slover.nev=20"}),
            "--set slover.nev=20: unknown key 'slover' at the top level (did you mean 'solver'?); "
            "valid keys: " +
                kTopKeys);
  EXPECT_EQ(
      error_of(text, {"solver.nev=many"}),
      "--set solver.nev=many: solver.nev: expected auto or an integer of at least 1, got 'many'");
  EXPECT_EQ(
      error_of(text, {"solver.nev="}),
      "--set solver.nev=: solver.nev has no value, expected auto or an integer of at least 1");
  EXPECT_EQ(error_of(text, {"solver.nev"}),
            "--set solver.nev: expected KEY=VALUE, e.g. --set solver.nev=20");
  EXPECT_EQ(error_of(text, {"=3"}), "--set =3: expected KEY=VALUE, e.g. --set solver.nev=20");
  const std::string open = "--set problem.matrix={generate: laplace1d";
  EXPECT_EQ(error_of(text, {open.substr(6)}).rfind(open + ": not readable as YAML: ", 0), 0u);
}

TEST(ConfigErrors, OverridesHideNoWrongValue) {
  EXPECT_EQ(
      error_of("just words", {"problem.matrix=a.mtx"}),
      "case.yaml:1:1: expected a map of keys, in which --set problem.matrix=a.mtx can set one");
  EXPECT_EQ(
      error_of("problem: {matrix: a.mtx}\nsolver: [4]", {"solver.nev=20"}),
      "case.yaml:2:9: solver: expected a map of keys, in which --set solver.nev=20 can set one");
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver: {preconditioner: jacobi}",
                     {"solver.preconditioner.degree=3"}),
            "case.yaml:2:26: solver.preconditioner: expected a map of keys, in which --set "
            "solver.preconditioner.degree=3 can set one");
  const auto refused = [](const std::string& rhs) {
    return error_of("problem: {matrix: a.mtx, rhs: " + rhs + "}", {"problem.rhs.ones=3"},
                    SolverType::block_cg);
  };
  EXPECT_EQ(refused("{random: 0}"),
            "case.yaml:1:40: problem.rhs.random: expected an integer of at least 1, got '0'");
  EXPECT_EQ(refused("{random: 1, unit: [1]}"),
            "case.yaml:1:31: problem.rhs: expected one key from {random, ones, unit}, got 3");
  const std::vector<std::string> set = {"solver.nev=20", "output.history=false"};
  EXPECT_EQ(error_of("problem: {matrix: a.mtx}\nsolver:\noutput:", set), "");
}

TEST(ConfigErrors, FilesThatCannotBeRead) {
  const auto load_error = [](const std::filesystem::path& path) {
    try {
      load_config(path, {}, {}, SolverType::lobpcg);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto folder = std::filesystem::path(testing::TempDir());
  EXPECT_EQ(load_error("no/such.yaml"), "no/such.yaml: no such file");
  EXPECT_EQ(load_error(folder), folder.string() + ": is a folder, expected a YAML file");
  const auto large = folder / "large.yaml";
  std::ofstream(large) << std::string(2 << 20, '#');
  EXPECT_EQ(load_error(large), large.string() + ": is larger than 1 MiB, not a configuration file");
  std::filesystem::remove(large);
}

}  // namespace
}  // namespace heddle::apps
