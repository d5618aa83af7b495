import type { ErrorData, RunStatus } from "capstan";
import type { EntryView, SessionView } from "capstan/client";
import { type FactIndex, getAsideKey, getTurnKey } from "../../data/fact-index.ts";

type EntryOf<Type extends EntryView["type"]> = Extract<EntryView, { readonly type: Type }>;

/** One row of a conversation. */
export type Item = {
  readonly key: string;
  /** Position of the fact that created it. */
  readonly seq: number;
} & (
  | {
      readonly type: "user";
      readonly entry: EntryOf<"user">;
      /** Position of the run it started. Undefined for a steering message. */
      readonly startSeq?: number;
    }
  | {
      readonly type: "assistant";
      readonly entry: EntryOf<"assistant">;
      /** Show the agent's name: it differs from the previous one, or the run has several agents. */
      readonly isNamed: boolean;
      /** The last entry of a finished run. */
      readonly isAnswer: boolean;
    }
  | { readonly type: "notice"; readonly entry: EntryOf<"notice"> }
  | {
      readonly type: "end";
      readonly runId: string;
      readonly status: Exclude<RunStatus, "done">;
      readonly error?: ErrorData;
    }
  /** The answer above is not based on tool results: all calls failed and none was denied. */
  | { readonly type: "ungrounded"; readonly runId: string }
);

/** Builds the rows of a conversation, without live output. */
export function buildItems(view: Pick<SessionView, "entries">, index: FactIndex): readonly Item[] {
  const answers = new Map<string, EntryView>();
  const speakers = new Map<string, Set<string>>();
  for (const entry of view.entries)
    if (entry.type === "assistant" && isVisible(entry, index)) {
      answers.set(entry.runId, entry);
      speakers.set(entry.runId, (speakers.get(entry.runId) ?? new Set()).add(entry.agent));
    }
  const items: Item[] = [];
  const deniedRuns = new Set<string>();
  const startedRuns = new Set<string>();
  const seqOf = positions(index);
  let speaker: string | undefined;
  let lastEntry: EntryView | undefined;
  for (const entry of view.entries) {
    const seq = seqOf(entry);
    if (!isVisible(entry, index)) continue;
    if (lastEntry && lastEntry.runId !== entry.runId)
      items.push(...buildEndItems(lastEntry.runId, index, deniedRuns));
    lastEntry = entry;
    const { runId } = entry;
    const shared = { key: `${runId} ${items.length}`, seq };
    if (entry.type === "user") {
      const isStart = index.runStarts.get(runId)?.seq === seq && !startedRuns.has(runId);
      startedRuns.add(runId);
      items.push({ type: "user", ...shared, entry, ...(isStart && { startSeq: seq }) });
    } else if (entry.type === "notice") items.push({ type: "notice", ...shared, entry });
    else {
      if (entry.calls.some(({ state }) => state === "denied")) deniedRuns.add(runId);
      const isNewSpeaker = speaker !== undefined && speaker !== entry.agent;
      const isNamed = isNewSpeaker || (speakers.get(runId)?.size ?? 0) > 1;
      const isAnswer = index.runEnds.has(runId) && answers.get(runId) === entry;
      items.push({ type: "assistant", ...shared, entry, isNamed, isAnswer });
      speaker = entry.agent;
    }
  }
  if (lastEntry) items.push(...buildEndItems(lastEntry.runId, index, deniedRuns));
  return items;
}

/** Returns a row for a run that did not end normally. */
function buildEndItems(
  runId: string,
  { runEnds }: FactIndex,
  deniedRuns: ReadonlySet<string>,
): readonly Item[] {
  const end = runEnds.get(runId);
  if (!end) return [];
  const { seq, status, error } = end;
  const shared = { key: `${runId} end`, seq, runId };
  if (status === "done")
    return end.grounded || deniedRuns.has(runId) ? [] : [{ type: "ungrounded", ...shared }];
  return [{ type: "end", ...shared, status, ...(error && { error }) }];
}

/** Which facts the entries come from, one after the other. */
function positions(index: FactIndex): (entry: EntryView) => number {
  const counts = new Map<string, number>();
  let lastEntry = 0;

  /** Those that the run was begun with, then those that came on its way. */
  function findPosition(runId: string, type: "user" | "notice"): number {
    const key = getAsideKey(runId, type);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const start = index.runStarts.get(runId);
    const inputType = type === "user" ? "user" : "summary";
    const startedRuns = start?.input.filter((entry) => entry.type === inputType).length ?? 0;
    return (count < startedRuns ? start?.seq : index.asides.get(key)?.[count - startedRuns]) ?? lastEntry;
  }
  function findAnswerPosition({ runId, turn, calls }: EntryOf<"assistant">): number {
    if (turn === 0) return index.runStarts.get(runId)?.seq ?? lastEntry;
    const message = index.messages.get(getTurnKey(runId, turn));
    if (message && message.seq > lastEntry) return message.seq;
    // Not a model's: the call of a limit, or the words of its end.
    const call = calls[0] && index.callStarts.get(calls[0].id);
    return call?.seq ?? index.runEnds.get(runId)?.seq ?? lastEntry;
  }
  return (entry) => {
    lastEntry = Math.max(
      lastEntry,
      entry.type === "assistant" ? findAnswerPosition(entry) : findPosition(entry.runId, entry.type),
    );
    return lastEntry;
  };
}

/** Hides entries that are shown elsewhere: errors have their own row, estimates are in the meter. */
function isVisible(entry: EntryView, index: FactIndex): boolean {
  if (entry.type === "notice") return entry.code !== "usage_estimated";
  return entry.type === "user" || !isErrorText(entry.text, index.runEnds.get(entry.runId)?.error);
}

function isErrorText(text: string, error: ErrorData | undefined): boolean {
  return error !== undefined && text.length < error.message.length + 100 && text.includes(error.message);
}

/** Reuses the previous objects of unchanged rows, so that they do not re-render. */
export function reuseItems(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  return after.map((item, index) => {
    const previous = before[index];
    return previous && isSameItem(previous, item) ? previous : item;
  });
}

function isSameItem(left: Item, right: Item): boolean {
  const names = Object.keys(right) as (keyof Item)[];
  return (
    names.length === Object.keys(left).length && names.every((name) => Object.is(left[name], right[name]))
  );
}
