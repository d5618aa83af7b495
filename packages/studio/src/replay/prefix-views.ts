import type { Fact } from "capstan";
import { emptyView, reduceAll, type SessionView } from "capstan/client";

/** Views of a session after any number of its facts. */
export type PrefixViews = {
  /** Returns the view after the first `count` facts. */
  getView(count: number): SessionView;
};

/** Maximum number of facts to fold for any moment. */
const snapshotInterval = 100;

/**
 * Creates views of an append-only list of facts. Every moment takes about the same time to compute. `newest` returns the
 * current view, so that the last moment needs no folding.
 */
export function createPrefixViews(facts: readonly Fact[], newest?: () => SessionView): PrefixViews {
  const snapshots: SessionView[] = [emptyView];
  let last = { count: 0, view: emptyView };

  function getSnapshot(number: number): SessionView {
    for (let next = snapshots.length; next <= number; next++) {
      const part = facts.slice((next - 1) * snapshotInterval, next * snapshotInterval);
      snapshots.push(reduceAll(snapshots[next - 1] ?? emptyView, part));
    }
    return snapshots[number] ?? emptyView;
  }
  return {
    getView(count) {
      const current = count > 0 && count === facts.length ? newest?.() : undefined;
      if (current && current.seq === facts[count - 1]?.seq) return { ...current, live: emptyView.live };
      const number = Math.floor(count / snapshotInterval);
      const snapshot = { count: number * snapshotInterval, view: getSnapshot(number) };
      // Continuing from the last view keeps its entry objects.
      const from = last.count <= count && last.count > snapshot.count ? last : snapshot;
      const rest = facts.slice(from.count, count);
      last = { count, view: rest.length > 0 ? reduceAll(from.view, rest) : from.view };
      return last.view;
    },
  };
}
