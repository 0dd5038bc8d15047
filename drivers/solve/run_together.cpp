#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/run_together.hpp>
#include <heddle/drivers/team/command.hpp>
#include <heddle/drivers/team/share.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
Solution share_and_run(const Place<Ctx>& on, HostProblem<T> problem, Facts facts,
                       const PreconditionerPlan& plan, const Request& request,
                       const Monitor& monitor) {
  const Clock::time_point start = Clock::now();
  HostContext& team = on.device.team();
  SharedProblem<T> shared = share(team, std::move(problem), std::move(facts), request.distribution);
  const Request own = own_request(*team.processes(), request, !shared.row_numbers.empty());
  const double sharing_seconds = seconds_since(start);
  Solution solution = run_shared(on, std::move(shared), plan, own, monitor);
  solution.setup_seconds += sharing_seconds;
  return solution;
}

template <Scalar T, class Ctx>
Solution run_together(const Place<Ctx>& on, HostProblem<T> problem, Facts facts,
                      const PreconditionerPlan& plan, const Request& request,
                      const Monitor& monitor) {
  Solution solution;
  on.device.together([&] {
    send_command(*on.device.team().processes(), {.duty = Command::Duty::solve,
                                                 .numbers = numbers_of<T>(),
                                                 .request = request,
                                                 .plan = plan,
                                                 .own_rows = facts.own_rows != nullptr,
                                                 .keeps_vectors = on.keeps_vectors});
    solution = share_and_run(on, std::move(problem), std::move(facts), plan, request, monitor);
  });
  return solution;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                            \
  template Solution share_and_run(const Place<Ctx>&, HostProblem<T>, Facts,                   \
                                  const PreconditionerPlan&, const Request&, const Monitor&); \
  template Solution run_together(const Place<Ctx>&, HostProblem<T>, Facts,                    \
                                 const PreconditionerPlan&, const Request&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
