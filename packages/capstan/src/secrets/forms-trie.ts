// An Aho-Corasick trie: a text is read once, and after each character the node tells which forms end there and how many
// trailing characters may be the start of another one.

/** A state of the automaton. */
export type FormsNode = {
  readonly depth: number;
  readonly next: Map<number, FormsNode>;
  /** Node of the longest proper suffix that is in the trie; undefined at the root. */
  fallback: FormsNode | undefined;
  /** Length of the longest form that ends here, or 0. */
  matchLength: number;
  /** Number of trailing characters that may be the start of an incomplete form. */
  prefixLength: number;
};

/** Returns the node after the next UTF-16 code unit. */
export function getNextNode(from: FormsNode, unit: number): FormsNode {
  let node = from;
  for (;;) {
    const next = node.next.get(unit);
    if (next) return next;
    if (!node.fallback) return node;
    node = node.fallback;
  }
}

/** Builds the trie and returns its root, which must not be modified. */
export function buildFormsTrie(forms: Iterable<string>): FormsNode {
  const root = createNode(0);
  for (const form of forms) {
    let node = root;
    for (let index = 0; index < form.length; index++) {
      const unit = form.charCodeAt(index);
      const next = node.next.get(unit) ?? createNode(node.depth + 1);
      node.next.set(unit, next);
      node = next;
    }
    node.matchLength = node.depth;
  }
  linkFallbacks(root);
  return root;
}

function createNode(depth: number): FormsNode {
  return { depth, next: new Map(), fallback: undefined, matchLength: 0, prefixLength: 0 };
}

/** Processes the trie level by level, because a node depends on shallower ones. */
function linkFallbacks(root: FormsNode): void {
  let level = [root];
  while (level.length > 0) {
    const deeper: FormsNode[] = [];
    for (const node of level) {
      for (const [unit, next] of node.next) {
        next.fallback = node.fallback ? getNextNode(node.fallback, unit) : root;
        deeper.push(next);
      }
      if (!node.fallback) continue;
      node.matchLength ||= node.fallback.matchLength;
      node.prefixLength = node.next.size > 0 ? node.depth : node.fallback.prefixLength;
    }
    level = deeper;
  }
}
