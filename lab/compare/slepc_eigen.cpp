// SLEPc on the problem of configs/quickstart.yaml: eigenvalues at one end of the spectrum of the
// 7-point Dirichlet Laplacian (6 on the diagonal, -1 off it) on a cube, by default the smallest by
// LOBPCG. All SLEPc and PETSc options are accepted (-eps_type, -eps_largest_real, -eps_nev,
// -eps_ncv, -eps_tol, -eps_lobpcg_blocksize, -st_pc_type, -eps_view ...). -size sets the number of
// points per edge. Prints the iterations, the seconds of EPSSolve alone and the eigenvalues with
// their relative residuals as "name: value" lines.

#include <slepceps.h>

#include "petsc_laplace3d.hpp"

namespace {

PetscErrorCode solve(Mat A) {
  EPS eps = nullptr;
  PetscBool type_given = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, nullptr));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-eps_type", &type_given));
  if (type_given == PETSC_FALSE) PetscCall(EPSSetType(eps, EPSLOBPCG));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetDimensions(eps, 16, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-8, 5000));
  PetscCall(EPSSetConvergenceTest(eps, EPS_CONV_NORM));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSetUp(eps));

  PetscLogDouble start = 0;
  PetscLogDouble stop = 0;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  PetscCall(EPSSolve(eps));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&stop));

  PetscInt iterations = 0;
  PetscInt converged = 0;
  PetscCall(EPSGetIterationNumber(eps, &iterations));
  PetscCall(EPSGetConverged(eps, &converged));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "converged: %" PetscInt_FMT "\niterations: %" PetscInt_FMT
                        "\nseconds: %.4f\n",
                        converged, iterations, stop - start));
  for (PetscInt i = 0; i < converged; ++i) {
    PetscScalar value = 0;
    PetscReal residual = 0;
    PetscCall(EPSGetEigenpair(eps, i, &value, nullptr, nullptr, nullptr));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_BACKWARD, &residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue: %.15g %.2e\n", value, residual));
  }
  PetscCall(EPSDestroy(&eps));
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  PetscInt size = 50;
  Mat A = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-size", &size, nullptr));
  PetscCall(laplace3d(size, &A));
  PetscCall(solve(A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (SlepcInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  const PetscErrorCode failed = run();
  return SlepcFinalize() != 0 || failed != 0 ? 1 : 0;
}
