#pragma once

#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/team/matrices_by_rows.hpp>
#include <heddle/drivers/team/vector_part.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <string>

/// The message of process 0 to the other processes before a solve that they do together.
namespace heddle::detail {

/// The numbers of a solve.
enum class Numbers { single, real, complex };

template <Scalar T>
constexpr Numbers numbers_of() noexcept {
  if (kComplex<T>) return Numbers::complex;
  return std::same_as<T, float> ? Numbers::single : Numbers::real;
}

/// The next duty of all processes but 0.
struct Command {
  enum class Duty {
    end,      ///< there is nothing more to do
    device,   ///< to take a device
    rows,     ///< to make own rows of generated matrices, or to read them
    solve,    ///< to take part in a solve on the device
    vectors,  ///< to send or to write own rows of its vectors
  };

  Duty duty = Duty::end;
  int code = 0;                                   ///< `end`: the exit code for the program
  DeviceChoice device = DeviceChoice::automatic;  ///< `device`
  int threads = 0;                                ///< `device`
  Numbers numbers = Numbers::real;                ///< `solve`
  MatricesByRows matrices{};                      ///< `rows`
  Request request{};                              ///< of `solve` with its method chosen
  PreconditionerPlan plan{};
  bool own_rows = false;       ///< `solve`: the problem with the rows that each has made
  bool keeps_vectors = false;  ///< `solve`: each process keeps its rows of the vectors
  VectorPart part{};           ///< `vectors`
};

/// Sends the command of process 0. Called by process 0.
void send_command(Processes& processes, Command command);

/// Waits for a command of process 0. Called by all other processes.
Command receive_command(Processes& processes);

/// `request` as the process carries it out. Each process keeps a checkpoint of its own: process 0
/// in the file of the request, process k in FILE.k. They fit the same number of processes and the
/// same distribution of rows only. `reordered`: whether this one has an order of its own.
Request own_request(const Processes& processes, Request request, bool reordered);

}  // namespace heddle::detail
