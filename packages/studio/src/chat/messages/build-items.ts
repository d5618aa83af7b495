import type { ErrorData, RunStatus } from "capstan";
import type { EntryView, SessionView } from "capstan/client";
import { isAppAgent } from "../../data/agents.ts";

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
      /** The agent that passes this text on, word for word, as the answer of the run: the text is shown there. */
      readonly passedOnBy?: string;
    }
  | { readonly type: "notice"; readonly entry: EntryOf<"notice"> }
  | {
      readonly type: "end";
      readonly runId: string;
      readonly status: Exclude<RunStatus, "done">;
      readonly error?: ErrorData;
      /** The run can continue from where it failed. */
      readonly canRetry?: true;
    }
  /** No tool result or cited source supports the answer above, and no call was denied. */
  | { readonly type: "ungrounded"; readonly runId: string }
);

type Runs = SessionView["runs"];

/** Builds the rows of a conversation, without live output. */
export function buildItems({ entries, runs }: Pick<SessionView, "entries" | "runs">): readonly Item[] {
  const visible = entries.filter((entry) => isVisible(entry, runs));
  const { answers, speakers } = collectAnswers(visible);
  const items: Item[] = [];
  const deniedRuns = new Set<string>();
  const startedRuns = new Set<string>();
  let speaker: string | undefined;
  let lastEntry: EntryView | undefined;
  for (const entry of visible) {
    const { runId, seq } = entry;
    if (lastEntry && lastEntry.runId !== runId)
      items.push(...buildEndItems(lastEntry.runId, runs, deniedRuns));
    lastEntry = entry;
    const shared = { key: `${runId} ${items.length}`, seq };
    if (entry.type === "user") {
      const isStart = runs.get(runId)?.start?.seq === seq && !startedRuns.has(runId) && !isAdded(entry);
      if (!isAdded(entry)) startedRuns.add(runId);
      items.push({ type: "user", ...shared, entry, ...(isStart && { startSeq: seq }) });
    } else if (entry.type === "notice") items.push({ type: "notice", ...shared, entry });
    else {
      if (entry.calls.some(({ state }) => state === "denied")) deniedRuns.add(runId);
      const isNewSpeaker = speaker !== undefined && speaker !== entry.agent;
      const isNamed = isNewSpeaker || (speakers.get(runId)?.size ?? 0) > 1;
      const isAnswer = runs.get(runId)?.end !== undefined && answers.get(runId) === entry;
      const passedOnBy = findPassedOnBy(entry, answers.get(runId));
      items.push({
        type: "assistant",
        ...shared,
        entry,
        isNamed,
        isAnswer,
        ...(passedOnBy && { passedOnBy }),
      });
      speaker = entry.agent;
    }
  }
  if (lastEntry) items.push(...buildEndItems(lastEntry.runId, runs, deniedRuns));
  return items;
}

/** Says who wrote a message: it may come from a file, a webhook or the application. */
export function getUserLabel({ entry }: { readonly entry: EntryOf<"user"> }): string {
  if (isScheduled(entry)) return "Scheduled message";
  if (entry.provenance === "external") return "External message";
  return isAdded(entry) ? "Message from the application" : "Your message";
}

/** Whether a schedule sent the entry. Anyone may write such words, so this is for display only. */
function isScheduled({ content, provenance }: EntryOf<"user">): boolean {
  const isMarked =
    typeof content === "string" && /^(Scheduled message: |This message was scheduled for )/.test(content);
  return provenance !== undefined && isMarked;
}

/** Whether the application added the entry to the user's message. */
function isAdded({ provenance }: EntryOf<"user">): boolean {
  return provenance === "application" || provenance === "operator";
}

/** Collects the last assistant entry and the agents of each run. */
function collectAnswers(entries: readonly EntryView[]) {
  const answers = new Map<string, EntryView>();
  const speakers = new Map<string, Set<string>>();
  for (const entry of entries)
    if (entry.type === "assistant") {
      answers.set(entry.runId, entry);
      speakers.set(entry.runId, (speakers.get(entry.runId) ?? new Set()).add(entry.agent));
    }
  return { answers, speakers };
}

/** A specialist returns its answer to the agent that asked it, which may repeat it as its own. */
function findPassedOnBy(entry: EntryOf<"assistant">, answer: EntryView | undefined): string | undefined {
  if (answer?.type !== "assistant" || answer === entry || entry.text === "") return undefined;
  return answer.text === entry.text && answer.agent !== entry.agent ? answer.agent : undefined;
}

/** Returns a row for a run that did not end normally. */
function buildEndItems(runId: string, runs: Runs, deniedRuns: ReadonlySet<string>): readonly Item[] {
  const end = runs.get(runId)?.end;
  if (!end) return [];
  const { seq, status, error, canRetry } = end;
  const shared = { key: `${runId} end`, seq, runId };
  if (status === "done")
    return end.grounded || isAppRun(runId, runs) || deniedRuns.has(runId)
      ? []
      : [{ type: "ungrounded", ...shared }];
  return [{ type: "end", ...shared, status, ...(error && { error }), ...(canRetry && { canRetry }) }];
}

/** Shown in the inspector only. */
const inspectorNotices: readonly string[] = ["usage_estimated", "cache_prefix_changed", "setting_ignored"];

/** Whether the run makes the call of an MCP App: only the call is shown. */
const isAppRun = (runId: string, runs: Runs): boolean => isAppAgent(runs.get(runId)?.start?.agent ?? "");

/** Hides entries that are shown elsewhere: errors have their own row, estimates are in the meter. */
function isVisible(entry: EntryView, runs: Runs): boolean {
  if (isAppRun(entry.runId, runs) && entry.type !== "notice")
    return entry.type === "assistant" && entry.calls.length > 0;
  if (entry.type === "notice") return !inspectorNotices.includes(entry.code);
  return entry.type === "user" || !isErrorText(entry.text, runs.get(entry.runId)?.end?.error);
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
