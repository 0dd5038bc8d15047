#include <algorithm>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/cholesky_backend.hpp>
#include <heddle/solvers/factor/supernodes.hpp>
#include <numeric>

namespace heddle::detail {
namespace {

using Numbers = std::vector<std::int32_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The neighbours of each row of a symmetric matrix, without the row itself.
struct Graph {
  std::vector<std::int64_t> offsets;
  Numbers neighbours;

  std::int32_t size() const { return static_cast<std::int32_t>(offsets.size()) - 1; }

  template <class Act>
  void visit(std::int32_t row, const Act& act) const {
    for (std::int64_t e = offsets[at(row)]; e < offsets[at(row) + 1]; ++e) act(neighbours[at(e)]);
  }
};

Graph graph_of(const CsrView<double, HostSpace>& lower) {
  Graph graph;
  graph.offsets.assign(at(lower.rows) + 1, 0);
  const auto visit = [&](const auto& act) {
    for (Index i = 0; i < lower.rows; ++i) {
      for (std::int64_t k = lower.row_offsets[i]; k < lower.row_offsets[i + 1]; ++k) {
        if (lower.columns[k] != i) act(static_cast<std::int32_t>(i), lower.columns[k]);
      }
    }
  };
  visit([&](std::int32_t i, std::int32_t j) {
    ++graph.offsets[at(i) + 1];
    ++graph.offsets[at(j) + 1];
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(at(graph.offsets.back()));
  std::vector<std::int64_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  visit([&](std::int32_t i, std::int32_t j) {
    graph.neighbours[at(next[at(i)]++)] = j;
    graph.neighbours[at(next[at(j)]++)] = i;
  });
  return graph;
}

/// An order with little fill.
Numbers reducing_order(const CsrView<double, HostSpace>& lower, const Graph& graph) {
  Numbers order = nested_dissection(graph.offsets, graph.neighbours);
  if (!order.empty() || lower.rows == 0) return order;
  HostContext host(1);
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    graph.visit(i, [&](std::int32_t j) { entries.push_back({i, j, 1}); });
  }
  const auto whole = csr_from_triplets<double>(host, lower.rows, lower.rows, entries);
  return eigen_cholesky().order(whole.view());
}

Numbers inverse(const Numbers& order) {
  Numbers position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    position[at(order[k])] = static_cast<std::int32_t>(k);
  }
  return position;
}

/// The parent of each column in the elimination tree. Source: Liu, ACM Trans. Math. Softw. 12
/// (1986) 127.
Numbers elimination_tree(const Graph& graph, const Numbers& order, const Numbers& position) {
  Numbers parent(order.size(), -1), ancestor(order.size(), -1);
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    graph.visit(order[at(i)], [&](std::int32_t old) {
      std::int32_t j = position[at(old)];
      while (j < i && ancestor[at(j)] != i) {
        const std::int32_t next = ancestor[at(j)];
        ancestor[at(j)] = i;
        if (next < 0) {
          parent[at(j)] = i;
          break;
        }
        j = next;
      }
    });
  }
  return parent;
}

/// The columns in an order with all descendants of a column right before it.
Numbers post_order(const Numbers& parent) {
  Numbers head(parent.size(), -1), next(parent.size(), -1), order, stack;
  for (std::size_t j = parent.size(); j-- > 0;) {
    if (parent[j] < 0) continue;
    next[j] = head[at(parent[j])];
    head[at(parent[j])] = static_cast<std::int32_t>(j);
  }
  for (std::size_t root = 0; root < parent.size(); ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(static_cast<std::int32_t>(root));
    while (!stack.empty()) {
      const std::int32_t j = stack.back();
      const std::int32_t child = head[at(j)];
      if (child < 0) {
        order.push_back(j);
        stack.pop_back();
      } else {
        head[at(j)] = next[at(child)];
        stack.push_back(child);
      }
    }
  }
  return order;
}

/// The entries of each column of L with its diagonal.
Numbers column_lengths(const Graph& graph, const Numbers& order, const Numbers& position,
                       const Numbers& parent) {
  Numbers length(order.size(), 1), seen(order.size(), -1);
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    seen[at(i)] = i;
    graph.visit(order[at(i)], [&](std::int32_t old) {
      for (std::int32_t j = position[at(old)]; j < i && seen[at(j)] != i; j = parent[at(j)]) {
        seen[at(j)] = i;
        ++length[at(j)];
      }
    });
  }
  return length;
}

/// A supernode while they are merged.
struct Block {
  std::int64_t first, columns, below, zeros;

  std::int64_t entries() const { return columns * (columns + 1) / 2 + columns * below; }
};

/// Whether a dense block may have as many zeros. Numbers as in CHOLMOD.
bool acceptable(const Block& block) {
  if (block.columns <= 4) return true;
  const double share = static_cast<double>(block.zeros) / static_cast<double>(block.entries());
  return share < (block.columns <= 16 ? 0.8 : block.columns <= 48 ? 0.1 : 0.05);
}

std::vector<Block> merge_columns(const Numbers& parent, const Numbers& length) {
  std::vector<Block> blocks;
  for (std::size_t j = 0; j < parent.size(); ++j) {
    const auto column = static_cast<std::int64_t>(j);
    if (!blocks.empty()) {
      Block& last = blocks.back();
      const bool same = parent[j - 1] == column && length[j - 1] == length[j] + 1;
      if (same && last.zeros == 0) {
        ++last.columns;
        --last.below;
        continue;
      }
    }
    blocks.push_back({column, 1, length[j] - 1, 0});
  }
  std::vector<Block> merged;
  for (Block block : blocks) {
    while (!merged.empty()) {
      const Block& child = merged.back();
      const std::int64_t next = parent[at(child.first + child.columns - 1)];
      if (next < block.first || next >= block.first + block.columns) break;
      Block both{child.first, child.columns + block.columns, block.below, 0};
      both.zeros =
          both.entries() - (child.entries() - child.zeros) - (block.entries() - block.zeros);
      if (!acceptable(both)) break;
      block = both;
      merged.pop_back();
    }
    merged.push_back(block);
  }
  return merged;
}

/// Sets the rows and parents of all supernodes.
void find_rows(const Graph& graph, Supernodes& all) {
  const auto n = all.order.size();
  Numbers owner(n), seen(n, -1);
  for (std::size_t s = 0; s < all.nodes.size(); ++s) {
    const Supernode& node = all.nodes[s];
    std::fill_n(owner.begin() + node.first, node.columns, static_cast<std::int32_t>(s));
  }
  std::vector<Numbers> children(all.nodes.size());
  for (std::size_t s = 0; s < all.nodes.size(); ++s) {
    Supernode& node = all.nodes[s];
    const Index end = node.first + node.columns;
    node.rows_begin = static_cast<Index>(all.rows.size());
    const auto add = [&](std::int32_t row) {
      if (row < end || seen[at(row)] == static_cast<std::int32_t>(s)) return;
      seen[at(row)] = static_cast<std::int32_t>(s);
      all.rows.push_back(row);
    };
    for (Index j = node.first; j < end; ++j) {
      graph.visit(all.order[at(j)], [&](std::int32_t old) { add(all.position[at(old)]); });
    }
    for (const std::int32_t child : children[s]) {
      const Supernode& below = all.nodes[at(child)];
      for (Index r = 0; r < below.below; ++r) add(all.rows[at(below.rows_begin + r)]);
    }
    node.below = static_cast<Index>(all.rows.size()) - node.rows_begin;
    std::sort(all.rows.begin() + node.rows_begin, all.rows.end());
    if (node.below > 0) {
      node.parent = owner[at(all.rows[at(node.rows_begin)])];
      children[at(node.parent)].push_back(static_cast<std::int32_t>(s));
    }
  }
}

}  // namespace

Supernodes find_supernodes(const CsrView<double, HostSpace>& lower) {
  const Graph graph = graph_of(lower);
  Supernodes all;
  all.order = reducing_order(lower, graph);
  {
    const Numbers post = post_order(elimination_tree(graph, all.order, inverse(all.order)));
    Numbers ordered(post.size());
    for (std::size_t k = 0; k < post.size(); ++k) ordered[k] = all.order[at(post[k])];
    all.order = std::move(ordered);
  }
  all.position = inverse(all.order);
  const Numbers parent = elimination_tree(graph, all.order, all.position);
  const Numbers length = column_lengths(graph, all.order, all.position, parent);
  for (const Block& block : merge_columns(parent, length)) {
    all.nodes.push_back({block.first, block.columns});
  }
  find_rows(graph, all);
  for (Supernode& node : all.nodes) {
    node.offset = all.values;
    all.values += static_cast<std::int64_t>(node.height()) * node.columns;
    for (Index j = 0; j < node.columns; ++j) {
      const auto column = static_cast<double>(node.height() - j);
      all.operations += column * column;
    }
  }
  return all;
}

}  // namespace heddle::detail
