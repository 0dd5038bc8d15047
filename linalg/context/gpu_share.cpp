#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/gpu_connection.hpp>
#include <heddle/linalg/context/gpu_share.hpp>
#include <string_view>
#include <vector>

namespace heddle::detail {
namespace {

using Text = std::array<char, 256>;

Text text_of(std::string_view words) {
  Text text{};
  std::copy_n(words.begin(), std::min(words.size(), text.size() - 1), text.begin());
  return text;
}

/// A process's facts about its GPU, for the other processes.
struct Card {
  Text reason{};  ///< why it cannot be used, else empty
  Text name{};
  cudaUUID_t id{};
  int device = 0;
};

Card own_card(int device) {
  Card card;
  card.device = device;
  std::string reason = no_connection_reason();
  if (reason.empty()) reason = cuda_unavailable_reason(device);
  if (!reason.empty()) {
    card.reason = text_of(reason);
    return card;
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device));
  card.name = text_of(properties.name);
  card.id = properties.uuid;
  return card;
}

std::string refusal(const std::vector<Card>& cards) {
  for (std::size_t k = 0; k < cards.size(); ++k) {
    if (cards[k].reason[0] != '\0') {
      return fmt::format("process {}: {}", k, cards[k].reason.data());
    }
  }
  for (std::size_t k = 1; k < cards.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (std::memcmp(&cards[j].id, &cards[k].id, sizeof cards[k].id) != 0) continue;
      return fmt::format(
          "processes {} and {} would share GPU {} of their machine ({}), and each needs a GPU of "
          "its own: start one process per GPU, or take device: host",
          j, k, cards[k].device, cards[k].name.data());
    }
    if (cards[k].name == cards[0].name) continue;
    return fmt::format("process 0 has the GPU {} and process {} the GPU {}, but all need the same",
                       cards[0].name.data(), k, cards[k].name.data());
  }
  return {};
}

}  // namespace

int gpu_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  cudaGetLastError();
  return count;
}

GpuShare share_gpus(Processes& processes) {
  const int device = processes.rank_on_this_machine() % std::max(gpu_count(), 1);
  const Card own = own_card(device);
  std::vector<Card> cards(static_cast<std::size_t>(processes.size()));
  processes.gather_all(&own, cards.data(), sizeof own);
  return {device, refusal(cards)};
}

}  // namespace heddle::detail
