import type { Fact } from "capstan";
import { buildView, emptyView, reduceAll, type SessionView, stageOf } from "capstan/client";
import { type FactIndex, factIndex } from "../data/fact-index.ts";

/** A session as it was after some of its facts. */
export type PrefixViews = {
  /** After the first `count` facts. */
  viewAt(count: number): SessionView;
  /** What is found in the first `count` facts. */
  indexAt(count: number): FactIndex;
};

/** From one snapshot to the next: so many facts at most are folded to show any moment. */
const snapshotEvery = 100;

/**
 * The views of a list of facts that grows. Going to any moment of it takes the same short time. `newest` gives a view that
 * is there already: whoever begins at the end need not wait until all is folded again.
 */
export function prefixViews(facts: readonly Fact[], newest?: () => SessionView): PrefixViews {
  const snapshots: SessionView[] = [emptyView];
  const insides = new Map<string, Fact[]>();
  let known = 0;
  let last = { count: 0, view: emptyView };

  /** The facts inside of calls, by the id of the call, as if each were a session of its own. */
  function learn(): void {
    for (; known < facts.length; known++) {
      const fact = facts[known];
      if (fact?.parentCallId === undefined) continue;
      const { parentRunId: _, parentCallId, ...own } = fact;
      const inside = insides.get(parentCallId) ?? [];
      inside.push(own as Fact);
      insides.set(parentCallId, inside);
    }
  }
  function snapshotAt(number: number): SessionView {
    for (let next = snapshots.length; next <= number; next++) {
      const part = facts.slice((next - 1) * snapshotEvery, next * snapshotEvery);
      snapshots.push(reduceAll(snapshots[next - 1] ?? emptyView, part));
    }
    return snapshots[number] ?? emptyView;
  }
  return {
    viewAt(count) {
      const known = count > 0 && count === facts.length ? newest?.() : undefined;
      if (known && known.seq === facts[count - 1]?.seq) return { ...known, live: emptyView.live };
      const number = Math.floor(count / snapshotEvery);
      const snapshot = { count: number * snapshotEvery, view: snapshotAt(number) };
      // Whoever goes on from where they were keeps the entries that they have.
      const from = last.count <= count && last.count > snapshot.count ? last : snapshot;
      const rest = facts.slice(from.count, count);
      last = { count, view: rest.length > 0 ? reduceAll(from.view, rest) : from.view };
      return last.view;
    },
    indexAt(count) {
      learn();
      const whole = factIndex(facts);
      const lastSeq = facts[count - 1]?.seq ?? 0;
      const isPast = ({ seq }: { readonly seq: number }) => seq <= lastSeq;
      const nested = new Map<string, SessionView>();
      // Only what is drawn is asked for, and there may be thousands of calls.
      nested.get = (callId) => {
        const inside = insides.get(callId)?.filter(isPast) ?? [];
        return inside.length > 0 ? buildView(inside) : undefined;
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
