import type { ErrorData, RunStatus } from "capstan";
import type { EntryView, SessionView } from "capstan/client";
import { asideKey, type FactIndex, turnKey } from "../../data/fact-index.ts";

type EntryOf<Type extends EntryView["type"]> = Extract<EntryView, { readonly type: Type }>;

/** One thing of a conversation, from top to bottom. */
export type Item = {
  readonly key: string;
  /** The position of the fact that it comes from. */
  readonly seq: number;
} & (
  | {
      readonly type: "user";
      readonly entry: EntryOf<"user">;
      /** Of the run that it began; left out of what was said to a run on its way. */
      readonly startSeq?: number;
    }
  | {
      readonly type: "assistant";
      readonly entry: EntryOf<"assistant">;
      /** Who speaks is not plain: another one than before, or one of several in this run. */
      readonly isNamed: boolean;
      /** The last of a run that is over. */
      readonly isAnswer: boolean;
    }
  | { readonly type: "notice"; readonly entry: EntryOf<"notice"> }
  | {
      readonly type: "end";
      readonly runId: string;
      readonly status: Exclude<RunStatus, "done">;
      readonly error?: ErrorData;
    }
  /** The answer above stands on no result: all tools that were tried have failed, and nobody refused one. */
  | { readonly type: "ungrounded"; readonly runId: string }
);

/** The conversation, without what is being said at this moment. */
export function itemsOf(view: Pick<SessionView, "entries">, index: FactIndex): readonly Item[] {
  const answers = new Map<string, EntryView>();
  const speakers = new Map<string, Set<string>>();
  for (const entry of view.entries)
    if (entry.type === "assistant" && isShown(entry, index)) {
      answers.set(entry.runId, entry);
      speakers.set(entry.runId, (speakers.get(entry.runId) ?? new Set()).add(entry.agent));
    }
  const items: Item[] = [];
  const refused = new Set<string>();
  const begun = new Set<string>();
  const seqOf = positions(index);
  let speaker: string | undefined;
  let last: EntryView | undefined;
  for (const entry of view.entries) {
    const seq = seqOf(entry);
    if (!isShown(entry, index)) continue;
    if (last && last.runId !== entry.runId) items.push(...endOf(last.runId, index, refused));
    last = entry;
    const { runId } = entry;
    const own = { key: `${runId} ${items.length}`, seq };
    if (entry.type === "user") {
      const isStart = index.runStarts.get(runId)?.seq === seq && !begun.has(runId);
      begun.add(runId);
      items.push({ type: "user", ...own, entry, ...(isStart && { startSeq: seq }) });
    } else if (entry.type === "notice") items.push({ type: "notice", ...own, entry });
    else {
      if (entry.calls.some(({ state }) => state === "denied")) refused.add(runId);
      const isOther = speaker !== undefined && speaker !== entry.agent;
      const isNamed = isOther || (speakers.get(runId)?.size ?? 0) > 1;
      const isAnswer = index.runEnds.has(runId) && answers.get(runId) === entry;
      items.push({ type: "assistant", ...own, entry, isNamed, isAnswer });
      speaker = entry.agent;
    }
  }
  if (last) items.push(...endOf(last.runId, index, refused));
  return items;
}

/** How a run ended, when it is not as it should be. */
function endOf(runId: string, { runEnds }: FactIndex, refused: ReadonlySet<string>): readonly Item[] {
  const end = runEnds.get(runId);
  if (!end) return [];
  const { seq, status, error } = end;
  const own = { key: `${runId} end`, seq, runId };
  if (status === "done") return end.grounded || refused.has(runId) ? [] : [{ type: "ungrounded", ...own }];
  return [{ type: "end", ...own, status, ...(error && { error }) }];
}

/** Which facts the entries come from, one after the other. */
function positions(index: FactIndex): (entry: EntryView) => number {
  const counts = new Map<string, number>();
  let last = 0;

  /** Those that the run was begun with, then those that came on its way. */
  function told(runId: string, type: "user" | "notice"): number {
    const key = asideKey(runId, type);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const start = index.runStarts.get(runId);
    const given = type === "user" ? "user" : "summary";
    const begun = start?.input.filter((entry) => entry.type === given).length ?? 0;
    return (count < begun ? start?.seq : index.asides.get(key)?.[count - begun]) ?? last;
  }
  function said({ runId, turn, calls }: EntryOf<"assistant">): number {
    if (turn === 0) return index.runStarts.get(runId)?.seq ?? last;
    const message = index.messages.get(turnKey(runId, turn));
    if (message && message.seq > last) return message.seq;
    // Not a model's: the call of a limit, or the words of its end.
    const call = calls[0] && index.callStarts.get(calls[0].id);
    return call?.seq ?? index.runEnds.get(runId)?.seq ?? last;
  }
  return (entry) => {
    last = Math.max(last, entry.type === "assistant" ? said(entry) : told(entry.runId, entry.type));
    return last;
  };
}

/** What is said elsewhere is not said twice: an error has its own place, and the meter tells of estimates. */
function isShown(entry: EntryView, index: FactIndex): boolean {
  if (entry.type === "notice") return entry.code !== "usage_estimated";
  return entry.type === "user" || !isErrorText(entry.text, index.runEnds.get(entry.runId)?.error);
}

/** The error in words, which is shown as one. */
function isErrorText(text: string, error: ErrorData | undefined): boolean {
  return error !== undefined && text.length < error.message.length + 100 && text.includes(error.message);
}

/** The new ones, but the old objects where nothing has changed: what is finished is not drawn again. */
export function keepItems(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  return after.map((item, at) => {
    const old = before[at];
    return old && isSame(old, item) ? old : item;
  });
}

function isSame(left: Item, right: Item): boolean {
  const names = Object.keys(right) as (keyof Item)[];
  return (
    names.length === Object.keys(left).length && names.every((name) => Object.is(left[name], right[name]))
  );
}
