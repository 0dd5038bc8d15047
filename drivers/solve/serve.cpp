#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/run_together.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/drivers/team/order.hpp>
#include <heddle/drivers/team/own_rows.hpp>
#include <heddle/drivers/team/own_vectors.hpp>
#include <type_traits>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// What a process that follows process 0 keeps between its orders.
struct OwnPart {
  Problem problem{};                            ///< with own rows, until the last solve of it
  std::shared_ptr<const OwnVectors> vectors{};  ///< of the last solve
};

/// Does the part of this process in the solve of `order`.
void take_part(Device& device, const Order& order, OwnPart& own) {
  own.vectors.reset();
  const bool first_of_two = order.single && order.request.precision == Precision::mixed;
  Problem problem = first_of_two ? own.problem : std::exchange(own.problem, {});
  if (!order.own_rows) problem = {};
  const Facts facts = shape_of(problem, device.processes());
  if (order.own_rows && !facts.own_rows) {
    throw InvalidArgument("a problem with own rows is solved once: make the rows again");
  }
  device.with_context([&](auto& context) {
    const Place<std::remove_reference_t<decltype(context)>> here{device, context,
                                                                 order.keeps_vectors};
    const auto run_part = [&](auto part) {
      return share_and_run(here, std::move(part), facts, order.plan, order.request, {});
    };
    Solution solution;
    if (order.single) {
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
    const detail::Order order = detail::receive_order(*processes);
    switch (order.duty) {
      case detail::Order::Duty::end:
        return order.code;
      case detail::Order::Duty::device:
        own = {};
        device.reset();
        device = std::make_unique<Device>(followed(order.device), order.threads, processes);
        break;
      case detail::Order::Duty::rows:
        own = {};
        own.problem =
            detail::own_rows(device->team(), order.matrices, order.request).value_or(Problem{});
        break;
      case detail::Order::Duty::solve:
        detail::take_part(*device, order, own);
        break;
      case detail::Order::Duty::vectors:
        detail::send_part(*processes, *own.vectors, order.part);
    }
  }
}

void dismiss(Processes& processes, int code) {
  detail::send_order(processes, {.duty = detail::Order::Duty::end, .code = code});
}

std::shared_ptr<detail::Followers> detail::followers(int size) {
  return std::make_shared<Followers>(
      size, Followers::Duty{[](const std::shared_ptr<Processes>& processes) { serve(processes); },
                            [](Processes& processes) { dismiss(processes); }});
}

}  // namespace heddle
