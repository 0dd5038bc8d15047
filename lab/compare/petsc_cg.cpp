// PETSc's CG on the problem of configs/cg.yaml: 16 random right-hand sides of the 7-point Dirichlet
// Laplacian on a cube, one after the other, from zero to a relative residual of 1e-8
// (unpreconditioned norm, heddle's criterion). All PETSc options are accepted (-pc_type gamg,
// -pc_type hypre, -ksp_rtol ...). -size sets the number of points per edge, -columns the right-hand
// sides. Prints the seconds of the setup of the preconditioner and of all solves, and the
// iterations of the slowest, as "name: value" lines.

#include <petscksp.h>

#include <algorithm>

#include "petsc_laplace3d.hpp"

namespace {

PetscErrorCode solve(Mat A, PetscInt columns) {
  KSP ksp = nullptr;
  Vec x = nullptr;
  Vec b = nullptr;
  PetscRandom random = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  PetscCall(KSPSetFromOptions(ksp));

  PetscLogDouble start = 0;
  PetscLogDouble ready = 0;
  PetscLogDouble stop = 0;
  PetscInt most = 0;
  PetscBool converged = PETSC_TRUE;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&ready));
  for (PetscInt j = 0; j < columns; ++j) {
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscCall(VecSetRandom(b, random));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    most = std::max(most, iterations);
    if (reason <= 0) converged = PETSC_FALSE;
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&stop));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "converged: %d\niterations: %" PetscInt_FMT
                        "\nsetup: %.4f\nseconds: %.4f\n",
                        converged == PETSC_TRUE ? 1 : 0, most, ready - start, stop - start));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  PetscInt size = 64;
  PetscInt columns = 16;
  Mat A = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-size", &size, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-columns", &columns, nullptr));
  PetscCall(laplace3d(size, &A));
  PetscCall(solve(A, columns));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  const PetscErrorCode failed = run();
  return PetscFinalize() != 0 || failed != 0 ? 1 : 0;
}
