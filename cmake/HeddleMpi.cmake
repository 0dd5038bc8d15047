# Sets HEDDLE_HAS_MPI and, where it is on, finds MPI.

set(HEDDLE_HAS_MPI OFF)
set(MPI_CXX_SKIP_MPICXX ON)  # only the interface for C is used
if(HEDDLE_MPI STREQUAL "AUTO")
  find_package(MPI QUIET COMPONENTS CXX)
elseif(HEDDLE_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
if(HEDDLE_MPI AND MPI_CXX_FOUND)
  set(HEDDLE_HAS_MPI ON)
  message(STATUS "Several processes: MPI ${MPI_CXX_VERSION}")
else()
  message(STATUS "Several processes: not in this build, it has no MPI")
endif()
