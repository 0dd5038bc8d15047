#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/reorder/min_hash.hpp>

namespace heddle::detail {
namespace {

/// The finaliser of MurmurHash3, a bijection. Different odd multipliers before it give different
/// hash functions.
constexpr std::uint32_t mix(std::uint32_t x) noexcept {
  x ^= x >> 16;
  x *= 0x85EBCA6B;
  x ^= x >> 13;
  x *= 0xC2B2AE35;
  x ^= x >> 16;
  return x;
}

constexpr std::array<std::uint32_t, MinHash::kHashes> make_multipliers() noexcept {
  std::array<std::uint32_t, MinHash::kHashes> multipliers{};
  for (std::uint32_t k = 0; k < MinHash::kHashes; ++k) {
    multipliers[k] = mix(0x9E3779B9 * (k + 1)) | 1u;
  }
  return multipliers;
}

constexpr auto kMultipliers = make_multipliers();

}  // namespace

MinHash MinHash::of_nothing() noexcept {
  MinHash hash;
  hash.least.fill(kEmpty);
  return hash;
}

void MinHash::add(std::uint32_t member) noexcept {
  for (std::size_t k = 0; k < kHashes; ++k) {
    // The largest hash is that of nothing.
    const std::uint32_t hash = std::min(mix((member + 1) * kMultipliers[k]), kEmpty - 1);
    least[k] = std::min(least[k], hash);
  }
}

void MinHash::unite(const MinHash& other) noexcept {
  for (std::size_t k = 0; k < kHashes; ++k) least[k] = std::min(least[k], other.least[k]);
}

std::uint32_t MinHash::digest() const noexcept {
  std::uint32_t digest = 0;
  for (const std::uint32_t hash : least) digest = mix(digest ^ hash);
  return digest;
}

std::vector<MinHash> min_hashes(HostContext& context, const RowSets& rows) {
  const RowPattern& A = rows.A;
  std::vector<MinHash> hashes(static_cast<std::size_t>(A.rows));
  parallel_for(context.threads(), A.rows, [&](Index row) {
    MinHash hash = MinHash::of_nothing();
    std::int32_t last = -1;
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const std::int32_t member = rows.member(k);
      if (member != last) hash.add(static_cast<std::uint32_t>(member));
      last = member;
    }
    hashes[static_cast<std::size_t>(row)] = hash;
  });
  return hashes;
}

Candidates::Candidates(HostContext& context, const std::vector<MinHash>& hashes) {
  Links alone;
  alone.before.fill(kNone);
  alone.behind.fill(kNone);
  links_.assign(hashes.size(), alone);
  // In long lists, a second hash brings rows that are alike closer together, and the digest equal
  // rows.
  const auto by_hash = [&](std::size_t band, std::vector<Key>& keys) {
    keys.clear();
    for (std::size_t row = 0; row < hashes.size(); ++row) {
      const MinHash& hash = hashes[row];
      if (hash.empty()) continue;
      keys.push_back({hash.least[band], hash.least[band + kBands], hash.digest(),
                      static_cast<std::int32_t>(row)});
    }
    std::sort(keys.begin(), keys.end());
  };
  std::vector<std::vector<Key>> of_members(static_cast<std::size_t>(context.threads()));
  for (std::vector<Key>& keys : of_members) keys.reserve(hashes.size());
  parallel_for(context.threads(), kBands, [&](Index band, int member) {
    std::vector<Key>& keys = of_members[static_cast<std::size_t>(member)];
    by_hash(static_cast<std::size_t>(band), keys);
    link(static_cast<std::size_t>(band), keys);
  });
}

void Candidates::link(std::size_t band, const std::vector<Key>& keys) noexcept {
  for (std::size_t p = 1; p < keys.size(); ++p) {
    const Key& left = keys[p - 1];
    const Key& right = keys[p];
    if (left.first != right.first) continue;
    links_[static_cast<std::size_t>(left.row)].behind[band] = right.row;
    links_[static_cast<std::size_t>(right.row)].before[band] = left.row;
  }
}

void Candidates::remove(std::int32_t row) noexcept {
  const Links& own = links_[static_cast<std::size_t>(row)];
  for (std::size_t band = 0; band < kBands; ++band) {
    if (own.before[band] != kNone) {
      links_[static_cast<std::size_t>(own.before[band])].behind[band] = own.behind[band];
    }
    if (own.behind[band] != kNone) {
      links_[static_cast<std::size_t>(own.behind[band])].before[band] = own.before[band];
    }
  }
}

}  // namespace heddle::detail
