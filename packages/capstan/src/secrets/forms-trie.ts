// The trie of Aho and Corasick: a text is read once, character by character, and after each it is known which forms
// end there and how much of the text may still be the beginning of one.

/** What was read last, as far as it matters. */
export type FormsNode = {
  readonly depth: number;
  readonly next: Map<number, FormsNode>;
  /** The longest shorter end of what was read that is in the trie; none at the root. */
  shorter: FormsNode | undefined;
  /** The length of the longest form that ends here, or 0. */
  matched: number;
  /** How many of the last characters may be the beginning of a form that is not complete. */
  begun: number;
};

/** Where the next character, a UTF-16 unit, leads. */
export function nextNode(from: FormsNode, unit: number): FormsNode {
  let node = from;
  for (;;) {
    const next = node.next.get(unit);
    if (next) return next;
    if (!node.shorter) return node;
    node = node.shorter;
  }
}

/** The root of a trie; what it gives must not be changed. */
export function formsTrie(forms: Iterable<string>): FormsNode {
  const root = newNode(0);
  for (const form of forms) {
    let node = root;
    for (let index = 0; index < form.length; index++) {
      const unit = form.charCodeAt(index);
      const next = node.next.get(unit) ?? newNode(node.depth + 1);
      node.next.set(unit, next);
      node = next;
    }
    node.matched = node.depth;
  }
  linkShorter(root);
  return root;
}

function newNode(depth: number): FormsNode {
  return { depth, next: new Map(), shorter: undefined, matched: 0, begun: 0 };
}

/** Level by level, because what a node knows follows from shorter ones. */
function linkShorter(root: FormsNode): void {
  let level = [root];
  while (level.length > 0) {
    const deeper: FormsNode[] = [];
    for (const node of level) {
      for (const [unit, next] of node.next) {
        next.shorter = node.shorter ? nextNode(node.shorter, unit) : root;
        deeper.push(next);
      }
      if (!node.shorter) continue;
      node.matched ||= node.shorter.matched;
      node.begun = node.next.size > 0 ? node.depth : node.shorter.begun;
    }
    level = deeper;
  }
}
