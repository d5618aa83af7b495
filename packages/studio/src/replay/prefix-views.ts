import type { Fact } from "capstan";
import { buildView, emptyView, reduceAll, type SessionView, stageOf } from "capstan/client";
import { type FactIndex, getFactIndex } from "../data/fact-index.ts";

/** Views of a session after any number of its facts. */
export type PrefixViews = {
  /** Returns the view after the first `count` facts. */
  getView(count: number): SessionView;
  /** Returns the index of the first `count` facts. */
  getIndex(count: number): FactIndex;
};

/** Maximum number of facts to fold for any moment. */
const snapshotInterval = 100;

/**
 * Creates views of an append-only list of facts. Every moment takes about the same time to compute. `newest` returns the
 * current view, so that the last moment needs no folding.
 */
export function createPrefixViews(facts: readonly Fact[], newest?: () => SessionView): PrefixViews {
  const snapshots: SessionView[] = [emptyView];
  const nestedFacts = new Map<string, Fact[]>();
  let known = 0;
  let last = { count: 0, view: emptyView };

  /** Collects the facts of nested runs by call id, as if each were its own session. */
  function collectNestedFacts(): void {
    for (; known < facts.length; known++) {
      const fact = facts[known];
      if (fact?.parentCallId === undefined) continue;
      const { parentRunId: _, parentCallId, ...own } = fact;
      const callFacts = nestedFacts.get(parentCallId) ?? [];
      callFacts.push(own as Fact);
      nestedFacts.set(parentCallId, callFacts);
    }
  }
  function getSnapshot(number: number): SessionView {
    for (let next = snapshots.length; next <= number; next++) {
      const part = facts.slice((next - 1) * snapshotInterval, next * snapshotInterval);
      snapshots.push(reduceAll(snapshots[next - 1] ?? emptyView, part));
    }
    return snapshots[number] ?? emptyView;
  }
  return {
    getView(count) {
      const known = count > 0 && count === facts.length ? newest?.() : undefined;
      if (known && known.seq === facts[count - 1]?.seq) return { ...known, live: emptyView.live };
      const number = Math.floor(count / snapshotInterval);
      const snapshot = { count: number * snapshotInterval, view: getSnapshot(number) };
      // Continuing from the last view keeps its entry objects.
      const from = last.count <= count && last.count > snapshot.count ? last : snapshot;
      const rest = facts.slice(from.count, count);
      last = { count, view: rest.length > 0 ? reduceAll(from.view, rest) : from.view };
      return last.view;
    },
    getIndex(count) {
      collectNestedFacts();
      const whole = getFactIndex(facts);
      const lastSeq = facts[count - 1]?.seq ?? 0;
      const isPast = ({ seq }: { readonly seq: number }) => seq <= lastSeq;
      const nested = new Map<string, SessionView>();
      // Lazy: only visible calls are looked up, and there may be thousands.
      nested.get = (callId) => {
        const callFacts = nestedFacts.get(callId)?.filter(isPast) ?? [];
        return callFacts.length > 0 ? buildView(callFacts) : undefined;
      };
      const runEnds = new Map([...whole.runEnds].filter(([, end]) => isPast(end)));
      const start = facts.findLastIndex(
        (fact) => fact.type === "run_start" && !fact.parentRunId && isPast(fact),
      );
      const stage = stageOf(facts.slice(Math.max(0, start), count));
      return { ...whole, nested, runEnds, stage, views: whole.views.filter(isPast) };
    },
  };
}
