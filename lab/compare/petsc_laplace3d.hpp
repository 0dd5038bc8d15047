#pragma once

#include <petscmat.h>

/// The 7-point Dirichlet Laplacian (6 on the diagonal, -1 off it) on a cube with `size` points per
/// edge. Rows are distributed to the ranks in contiguous ranges, as PETSc does by
/// default.
inline PetscErrorCode laplace3d(PetscInt size, Mat* A) {
  const PetscInt n = size * size * size;
  PetscFunctionBeginUser;
  PetscCall(
      MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 7, nullptr, 6, nullptr, A));
  PetscInt begin = 0;
  PetscInt end = 0;
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  const PetscInt strides[] = {1, size, size * size};
  for (PetscInt row = begin; row < end; ++row) {
    PetscCall(MatSetValue(*A, row, row, 6.0, INSERT_VALUES));
    for (const PetscInt stride : strides) {
      const PetscInt position = row / stride % size;
      if (position > 0) PetscCall(MatSetValue(*A, row, row - stride, -1.0, INSERT_VALUES));
      if (position < size - 1) PetscCall(MatSetValue(*A, row, row + stride, -1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
