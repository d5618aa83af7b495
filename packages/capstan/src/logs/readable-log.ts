import { formatCount } from "../base/format-count.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { getText, toPlainText } from "../kernel/history.ts";
import { getStopReason } from "../kernel/model.ts";
import { createLogFormatter, type LogFormatter } from "./log-formatter.ts";

export type ReadableLogOptions = {
  /** Masked wherever they occur; see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * Creates an `onEvent` hook that writes a run as short readable lines, with times in UTC. `write` receives whole lines
 * including the line break. Deltas and reasoning are omitted.
 */
export function readableLog(
  write: (line: string) => void,
  { secrets = [] }: ReadableLogOptions = {},
): (event: Event) => void {
  const format = createLogFormatter(secrets);
  return (event) => {
    if (!isFact(event)) return;
    const line = formatFactLine(event, format);
    if (line) write(`${new Date(event.at).toISOString()} ${format.name(event.runId)} ${line}\n`);
  };
}

/** Returns undefined for facts that add nothing to the log. */
function formatFactLine(fact: Fact, format: LogFormatter): string | undefined {
  switch (fact.type) {
    case "run_start":
      return `Start of ${format.name(fact.agent)} in session ${format.name(fact.sessionId)}: ${format.text(getLastUserText(fact))}`;
    case "turn_start":
      return `Turn ${fact.turn}/${fact.maxTurns} of ${format.name(fact.agent)}`;
    case "message":
    case "message_partial":
      return formatMessage(fact, format);
    case "model_failed":
      return `Model ${format.name(fact.model)} failed after ${formatAttempts(fact.attempts)}: ${formatProblem(fact.error, format)}`;
    case "compaction_start":
      return `Summarizing ${fact.until} earlier entries`;
    case "compacted":
      return formatCompaction(fact, format);
    case "tool_call_start":
      return `Call ${format.name(fact.id)}: ${format.name(fact.name)} ${format.json(fact.arguments)}`;
    case "tool_call_result":
      return `Result ${format.name(fact.id)}: ${formatToolResult(fact, format)}`;
    case "approval_required":
      if (fact.question)
        return `Question of ${format.name(fact.callId)}: ${format.name(fact.name)} asks ${format.text(fact.reason)}`;
      return `Approval of ${format.name(fact.callId)} needed: ${format.name(fact.name)} ${format.json(fact.input)} ${format.text(fact.reason)}`;
    case "approval_resolved":
      if (fact.number !== undefined)
        return `Question of ${format.name(fact.callId)} ${fact.approved ? `answered: ${format.json(fact.value ?? null)}` : `refused${formatReasonSuffix(fact.reason, format)}`}`;
      return `Approval of ${format.name(fact.callId)} ${fact.approved ? "given" : `refused${formatReasonSuffix(fact.reason, format)}`}`;
    case "woken":
      return "Resumed: the wait is over or a nested run was answered";
    case "waiting":
      if (fact.until !== undefined) return `Waiting until ${new Date(fact.until).toISOString()}`;
      return `Waiting for ${fact.callIds.map(format.name).join(", ")}`;
    case "handoff":
      return `Handoff from ${format.name(fact.from)} to ${format.name(fact.to)}${formatReasonSuffix(fact.message, format)}`;
    case "handoff_denied":
      return `Handoff to ${format.name(fact.to)} denied: ${format.text(fact.reason)}`;
    case "handoff_return":
      return `Return from ${format.name(fact.from)} to ${format.name(fact.to)}: ${fact.error ? formatProblem(fact.error, format) : format.text(fact.text)}`;
    case "steered":
      return `Steered: ${format.text(toPlainText(fact.entry.content))}`;
    case "retried":
      return "Retried";
    case "recovered":
      return `Taken over by ${format.name(fact.owner)}${fact.alone ? ", alone in its process" : ""}`;
    case "solo_end":
      return "No longer alone in its process";
    case "cancel_requested":
      return `Cancel requested: ${format.text(fact.reason)}`;
    case "turn_summary":
      return fact.text && `Turn ${fact.turn}: ${format.text(fact.text)}`;
    case "turn_end":
      return undefined;
    case "limit_reached":
      return `Limit ${formatProblem(fact, format)}`;
    case "warning":
      return `Warning ${formatProblem(fact, format)}`;
    case "error":
      return `Error ${formatProblem(fact, format)}`;
    case "done":
      return `End: ${fact.status}, ${fact.usage.inputTokens} tokens in, ${fact.usage.outputTokens} out: ${format.text(fact.text)}`;
  }
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

function formatMessage(fact: FactOf<"message" | "message_partial">, format: LogFormatter): string {
  const text = getText(fact.entry);
  const what = fact.type === "message" ? "Message" : "Unfinished message";
  return `${what} of ${format.name(fact.model)} in ${fact.ms} ms (${getStopReason(fact)})${text && `: ${format.text(text)}`}`;
}

function getLastUserText({ input }: FactOf<"run_start">): string {
  const lastUser = input.findLast((entry) => entry.type === "user");
  return lastUser ? toPlainText(lastUser.content) : "";
}

function formatToolResult(fact: FactOf<"tool_call_result">, format: LogFormatter): string {
  const attempts = fact.attempts > 1 ? ` after ${formatAttempts(fact.attempts)}` : "";
  const content = fact.error ? formatProblem(fact.error, format) : format.text(toPlainText(fact.result));
  return `${format.name(fact.name)} ${fact.status} in ${fact.ms} ms${attempts}: ${content}`;
}

function formatProblem(
  { code, message }: { readonly code: string; readonly message: string },
  format: LogFormatter,
): string {
  return `${format.name(code)} ${format.text(message)}`;
}

function formatCompaction(fact: FactOf<"compacted">, format: LogFormatter): string {
  const { until, text, model, results } = fact;
  if (results) return `Shortened ${formatCount(results.length, "result")} of the last turns`;
  if (text === undefined) return `Shortened results in ${until} earlier entries`;
  return `${until} earlier entries ${model === undefined ? "dropped" : `summarized by ${format.name(model)}`}: ${format.text(text)}`;
}

function formatReasonSuffix(text: string | undefined, format: LogFormatter): string {
  return text === undefined ? "" : `: ${format.text(text)}`;
}

function formatAttempts(count: number): string {
  return formatCount(count, "attempt");
}
