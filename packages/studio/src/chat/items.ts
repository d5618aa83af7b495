import type { ErrorData, RunStatus } from "capstan";
import type { EntryView, SessionView } from "capstan/client";
import type { FactIndex } from "../connection/fact-index.ts";

type EntryOf<Type extends EntryView["type"]> = Extract<EntryView, { readonly type: Type }>;

/** One thing of a conversation, from top to bottom. */
export type Item =
  | {
      readonly type: "user";
      readonly key: string;
      readonly entry: EntryOf<"user">;
      /** Of the run that it began; left out of what was said to a run on its way. */
      readonly startSeq?: number;
    }
  | {
      readonly type: "assistant";
      readonly key: string;
      readonly entry: EntryOf<"assistant">;
      /** Another one than before speaks. */
      readonly isOtherAgent: boolean;
      /** The last of a run that is over. */
      readonly isAnswer: boolean;
    }
  | { readonly type: "notice"; readonly key: string; readonly entry: EntryOf<"notice"> }
  | {
      readonly type: "end";
      readonly key: string;
      readonly runId: string;
      readonly status: Exclude<RunStatus, "done">;
      readonly error?: ErrorData;
    };

/** The conversation, without what is being said at this moment. */
export function itemsOf(view: Pick<SessionView, "entries">, index: FactIndex): readonly Item[] {
  const entries = view.entries.filter((entry) => isShown(entry, index));
  const answers = new Map(
    entries.flatMap((entry) => (entry.type === "assistant" ? [[entry.runId, entry]] : [])),
  );
  const items: Item[] = [];
  const begun = new Set<string>();
  let speaker: string | undefined;
  for (const [at, entry] of entries.entries()) {
    const { runId } = entry;
    const key = `${runId} ${at}`;
    const end = index.runEnds.get(runId);
    if (entry.type === "user") {
      const start = index.runStarts.get(runId);
      items.push({ type: "user", key, entry, ...(start && !begun.has(runId) && { startSeq: start.seq }) });
      begun.add(runId);
    } else if (entry.type === "notice") items.push({ type: "notice", key, entry });
    else {
      const isOtherAgent = speaker !== undefined && speaker !== entry.agent;
      const isAnswer = end !== undefined && answers.get(runId) === entry;
      items.push({ type: "assistant", key, entry, isOtherAgent, isAnswer });
      speaker = entry.agent;
    }
    if (!end || end.status === "done" || entries[at + 1]?.runId === runId) continue;
    const { status, error } = end;
    items.push({ type: "end", key: `${runId} end`, runId, status, ...(error && { error }) });
  }
  return items;
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
