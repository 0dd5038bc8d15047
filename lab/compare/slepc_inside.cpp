// SLEPc inside the spectrum, on generated matrices of heddle: pairs nearest to a number by shift
// and invert, or all pairs of an interval by spectrum slicing, with factors by MUMPS. All SLEPc and
// PETSc options are accepted (-eps_ncv, -mat_mumps_icntl_7, -eps_view ...).
//
// usage: slepc-inside -matrix laplace3d:40,40,40 [-mass NAME:SIZES] -sigma 2.5 [-eps_nev 50]
//        slepc-inside -matrix laplace3d:40,41,42 -interval 2.4,2.6
//
// Prints the converged pairs, the iterations, the seconds of set-up and solve together, and the
// eigenvalues with their relative residuals as "name: value" lines.

#include <slepceps.h>

#include <algorithm>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// The matrix NAME:SIZE,SIZE,SIZE, whose rows are distributed in contiguous ranges.
PetscErrorCode generated(const std::string& argument, Mat* matrix) {
  PetscFunctionBeginUser;
  const std::size_t colon = argument.find(':');
  std::vector<heddle::Index> sizes;
  std::istringstream list(argument.substr(colon + 1));
  for (std::string size; std::getline(list, size, ',');) sizes.push_back(std::stol(size));
  heddle::HostContext host;
  auto A = heddle::generate<double>(host, {argument.substr(0, colon), sizes});
  const auto n = static_cast<PetscInt>(A.rows());
  PetscInt longest = 0;
  for (PetscInt i = 0; i < n; ++i) {
    longest = std::max(longest, static_cast<PetscInt>(A.row_offsets()[i + 1] - A.row_offsets()[i]));
  }
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, longest, nullptr,
                         longest, nullptr, matrix));
  PetscInt begin = 0, end = 0;
  PetscCall(MatGetOwnershipRange(*matrix, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    const auto first = A.row_offsets()[i];
    const std::vector<PetscInt> columns(A.columns() + first, A.columns() + A.row_offsets()[i + 1]);
    PetscCall(MatSetValues(*matrix, 1, &i, static_cast<PetscInt>(columns.size()), columns.data(),
                           A.values() + first, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/// Sets factors by MUMPS, which slicing must ask for the inertia.
PetscErrorCode set_factor(EPS eps, bool slices) {
  ST st = nullptr;
  KSP ksp = nullptr;
  PC pc = nullptr;
  PetscFunctionBeginUser;
  PetscCall(EPSGetST(eps, &st));
  PetscCall(STSetType(st, STSINVERT));
  PetscCall(slices ? EPSKrylovSchurGetKSP(eps, &ksp) : STGetKSP(st, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  PetscCall(
      PetscOptionsInsertString(nullptr, "-mat_mumps_icntl_13 1"));  // counts in the last front
  PetscFunctionReturn(0);
}

PetscErrorCode aim(EPS eps) {
  PetscReal sigma = 0, interval[2] = {0, 0};
  PetscInt ends = 2;
  PetscBool slices = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-sigma", &sigma, nullptr));
  PetscCall(PetscOptionsGetRealArray(nullptr, nullptr, "-interval", interval, &ends, &slices));
  PetscCall(EPSSetType(eps, EPSKRYLOVSCHUR));
  if (slices == PETSC_TRUE) {
    PetscCall(EPSSetWhichEigenpairs(eps, EPS_ALL));
    PetscCall(EPSSetInterval(eps, interval[0], interval[1]));
  } else {
    PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
    PetscCall(EPSSetTarget(eps, sigma));
    PetscCall(EPSSetDimensions(eps, 50, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  PetscCall(set_factor(eps, slices == PETSC_TRUE));
  PetscFunctionReturn(0);
}

PetscErrorCode report(EPS eps, PetscLogDouble seconds) {
  PetscInt iterations = 0, converged = 0;
  PetscFunctionBeginUser;
  PetscCall(EPSGetIterationNumber(eps, &iterations));
  PetscCall(EPSGetConverged(eps, &converged));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "converged: %" PetscInt_FMT "\niterations: %" PetscInt_FMT
                        "\nseconds: %.4f\n",
                        converged, iterations, seconds));
  for (PetscInt i = 0; i < converged; ++i) {
    PetscScalar value = 0;
    PetscReal residual = 0;
    PetscCall(EPSGetEigenpair(eps, i, &value, nullptr, nullptr, nullptr));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_BACKWARD, &residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue: %.15g %.2e\n", value, residual));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  char name[256] = "laplace3d:40,40,40";
  PetscBool pencil = PETSC_FALSE;
  Mat A = nullptr, B = nullptr;
  EPS eps = nullptr;
  PetscLogDouble start = 0, stop = 0;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", name, sizeof(name), nullptr));
  PetscCall(generated(name, &A));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mass", name, sizeof(name), &pencil));
  if (pencil == PETSC_TRUE) PetscCall(generated(name, &B));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, B));
  PetscCall(EPSSetProblemType(eps, pencil == PETSC_TRUE ? EPS_GHEP : EPS_HEP));
  PetscCall(EPSSetTolerances(eps, 1e-8, PETSC_DEFAULT));
  PetscCall(EPSSetConvergenceTest(eps, EPS_CONV_NORM));
  PetscCall(aim(eps));
  PetscCall(EPSSetFromOptions(eps));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  PetscCall(EPSSetUp(eps));
  PetscCall(EPSSolve(eps));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&stop));
  PetscCall(report(eps, stop - start));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (SlepcInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  const PetscErrorCode failed = run();
  return SlepcFinalize() != 0 || failed != 0 ? 1 : 0;
}
