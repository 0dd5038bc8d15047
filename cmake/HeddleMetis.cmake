# Sets HEDDLE_HAS_METIS and, where it is on, finds METIS.

set(HEDDLE_HAS_METIS OFF)
if(HEDDLE_METIS STREQUAL "AUTO")
  find_package(METIS QUIET)
elseif(HEDDLE_METIS)
  find_package(METIS REQUIRED)
endif()
if(HEDDLE_METIS AND METIS_FOUND)
  set(HEDDLE_HAS_METIS ON)
  message(STATUS "Partitions of graphs: METIS")
else()
  message(STATUS "Partitions of graphs: not in this build, it has no METIS")
endif()
