#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/run_together.hpp>
#include <heddle/drivers/team/command.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/drivers/team/own_rows.hpp>
#include <heddle/drivers/team/own_vectors.hpp>
#include <type_traits>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// The state of a process that follows process 0, between two commands.
struct OwnPart {
  Problem problem{};                            ///< with own rows, until the last solve of it
  std::shared_ptr<const OwnVectors> vectors{};  ///< of the last solve
};

/// Does the part of this process in the solve of `command`.
void take_part(Device& device, const Command& command, OwnPart& own) {
  own.vectors.reset();
  const bool single = command.numbers == Numbers::single;
  const bool first_of_two = single && command.request.precision == Precision::mixed;
  Problem problem = first_of_two ? own.problem : std::exchange(own.problem, {});
  if (!command.own_rows) problem = {};
  const Facts facts = shape_of(problem, device.processes());
  if (command.own_rows && !facts.own_rows) {
    throw InvalidArgument("a problem with own rows is solved once: make the rows again");
  }
  device.with_context([&](auto& context) {
    const Place<std::remove_reference_t<decltype(context)>> here{device, context,
                                                                 command.keeps_vectors};
    const auto run_part = [&](auto part) {
      return share_and_run(here, std::move(part), facts, command.plan, command.request, {});
    };
    Solution solution;
    if (command.numbers == Numbers::complex) {
      solution = run_part(ComplexProblem());
    } else if (single) {
      HostProblem<float> rounded;
      if (facts.own_rows) rounded = to_single(device.host(), problem);
      problem = {};
      solution = run_part(std::move(rounded));
    } else {
      solution = run_part(std::move(problem));
    }
    own.vectors = std::move(solution.own_vectors);
  });
}

}  // namespace
}  // namespace detail

namespace {

/// The choice of the other processes where that of process 0 is `choice`. Where there is no GPU for
/// each, process 0 alone reports it.
DeviceChoice followed(DeviceChoice choice) {
  return choice == DeviceChoice::cuda ? DeviceChoice::automatic : choice;
}

}  // namespace

int serve(const std::shared_ptr<Processes>& processes) {
  std::unique_ptr<Device> device;
  detail::OwnPart own;
  for (;;) {
    const detail::Command command = detail::receive_command(*processes);
    switch (command.duty) {
      case detail::Command::Duty::end:
        return command.code;
      case detail::Command::Duty::device:
        own = {};
        device.reset();
        device = std::make_unique<Device>(followed(command.device), command.threads, processes);
        break;
      case detail::Command::Duty::rows:
        own = {};
        own.problem =
            detail::own_rows(device->team(), command.matrices, command.request).value_or(Problem{});
        break;
      case detail::Command::Duty::solve:
        detail::take_part(*device, command, own);
        break;
      case detail::Command::Duty::vectors:
        detail::send_part(*processes, *own.vectors, command.part);
    }
  }
}

void dismiss(Processes& processes, int code) {
  detail::send_command(processes, {.duty = detail::Command::Duty::end, .code = code});
}

std::shared_ptr<detail::Followers> detail::followers(int size) {
  return std::make_shared<Followers>(
      size, Followers::Duty{[](const std::shared_ptr<Processes>& processes) { serve(processes); },
                            [](Processes& processes) { dismiss(processes); }});
}

}  // namespace heddle
