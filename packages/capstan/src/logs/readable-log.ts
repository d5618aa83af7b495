import { type Event, type Fact, isFact } from "../event.ts";
import { getText, toPlainText } from "../history.ts";
import { type Shown, shown } from "./shown.ts";

export type ReadableLogOptions = {
  /** Masked wherever they occur, see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * A sink for `hooks.onEvent`: what happens, in short lines for people; the time is UTC. `write` gets whole lines, each
 * with its line end. Deltas and reasoning are not in it.
 */
export function readableLog(
  write: (line: string) => void,
  { secrets = [] }: ReadableLogOptions = {},
): (event: Event) => void {
  const show = shown(secrets);
  return (event) => {
    if (!isFact(event)) return;
    const words = wordsOf(event, show);
    if (words) write(`${new Date(event.at).toISOString()} ${show.name(event.runId)} ${words}\n`);
  };
}

/** Nothing for a fact that says nothing new. */
function wordsOf(fact: Fact, show: Shown): string | undefined {
  switch (fact.type) {
    case "run_start":
      return `Start of ${show.name(fact.agent)} in session ${show.name(fact.sessionId)}: ${show.text(inputOf(fact))}`;
    case "turn_start":
      return `Turn ${fact.turn}/${fact.maxTurns} of ${show.name(fact.agent)}`;
    case "message": {
      const text = getText(fact.entry);
      return `Message of ${show.name(fact.model)} in ${fact.ms} ms (${fact.finish})${text && `: ${show.text(text)}`}`;
    }
    case "model_failed":
      return `Model ${show.name(fact.model)} failed after ${attempts(fact.attempts)}: ${problem(fact.error, show)}`;
    case "compaction_start":
      return `Summary of ${fact.until} earlier entries begun`;
    case "compacted":
      return compactionOf(fact, show);
    case "tool_call_start":
      return `Call ${show.name(fact.id)}: ${show.name(fact.name)} ${show.json(fact.arguments)}`;
    case "tool_call_result":
      return `Result ${show.name(fact.id)}: ${resultOf(fact, show)}`;
    case "approval_required":
      if (fact.question)
        return `Question of ${show.name(fact.callId)}: ${show.name(fact.name)} asks ${show.text(fact.reason)}`;
      return `Approval of ${show.name(fact.callId)} needed: ${show.name(fact.name)} ${show.json(fact.input)} ${show.text(fact.reason)}`;
    case "approval_resolved":
      if (fact.number !== undefined)
        return `Question of ${show.name(fact.callId)} ${fact.approved ? `answered: ${show.json(fact.value ?? null)}` : `refused${reason(fact.reason, show)}`}`;
      return `Approval of ${show.name(fact.callId)} ${fact.approved ? "given" : `refused${reason(fact.reason, show)}`}`;
    case "woken":
      return "It goes on: the time has come, or what is nested in it was answered";
    case "waiting":
      if (fact.until !== undefined) return `Waiting until ${new Date(fact.until).toISOString()}`;
      return `Waiting for ${fact.callIds.map(show.name).join(", ")}`;
    case "handoff":
      return `Handoff from ${show.name(fact.from)} to ${show.name(fact.to)}${reason(fact.message, show)}`;
    case "handoff_denied":
      return `Handoff to ${show.name(fact.to)} denied: ${show.text(fact.reason)}`;
    case "handoff_return":
      return `Return from ${show.name(fact.from)} to ${show.name(fact.to)}: ${fact.error ? problem(fact.error, show) : show.text(fact.text)}`;
    case "steered":
      return `Steered: ${show.text(toPlainText(fact.entry.content))}`;
    case "recovered":
      return `Taken up again by ${show.name(fact.owner)}`;
    case "cancel_requested":
      return `Cancel requested: ${show.text(fact.reason)}`;
    case "turn_summary":
      return fact.text && `Turn ${fact.turn}: ${show.text(fact.text)}`;
    case "turn_end":
      return undefined;
    case "limit_reached":
      return `Limit ${problem(fact, show)}`;
    case "warning":
      return `Warning ${problem(fact, show)}`;
    case "error":
      return `Error ${problem(fact, show)}`;
    case "done":
      return `End: ${fact.status}, ${fact.usage.inputTokens} tokens in, ${fact.usage.outputTokens} out: ${show.text(fact.text)}`;
  }
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

function inputOf({ input }: FactOf<"run_start">): string {
  const last = input.findLast((entry) => entry.type === "user");
  return last ? toPlainText(last.content) : "";
}

function resultOf(fact: FactOf<"tool_call_result">, show: Shown): string {
  const tries = fact.attempts > 1 ? ` after ${attempts(fact.attempts)}` : "";
  const content = fact.error ? problem(fact.error, show) : show.text(toPlainText(fact.result));
  return `${show.name(fact.name)} ${fact.status} in ${fact.ms} ms${tries}: ${content}`;
}

function problem(
  { code, message }: { readonly code: string; readonly message: string },
  show: Shown,
): string {
  return `${show.name(code)} ${show.text(message)}`;
}

function compactionOf({ until, text, model }: FactOf<"compacted">, show: Shown): string {
  if (text === undefined) return `Results in ${until} earlier entries shortened`;
  return `${until} earlier entries ${model === undefined ? "left out" : `summarised by ${show.name(model)}`}: ${show.text(text)}`;
}

function reason(text: string | undefined, show: Shown): string {
  return text === undefined ? "" : `: ${show.text(text)}`;
}

function attempts(count: number): string {
  return count === 1 ? "1 attempt" : `${count} attempts`;
}
