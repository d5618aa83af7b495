import { type Event, isFact } from "../kernel/event.ts";
import { createLogFormatter } from "./log-formatter.ts";

export type ReasoningLogOptions = {
  /** Masked wherever they occur; see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * Creates an `onEvent` hook that writes the model's full reasoning. `write` receives one block per message: a heading
 * with time, run, agent and turn, then the reasoning, indented so that it cannot be mistaken for a heading.
 */
export function reasoningLog(
  write: (block: string) => void,
  { secrets = [] }: ReasoningLogOptions = {},
): (event: Event) => void {
  const format = createLogFormatter(secrets);
  return (event) => {
    if (!isFact(event) || event.type !== "message") return;
    const lines = event.entry.parts.flatMap((part) =>
      part.type === "reasoning" && part.text.trim() ? format.lines(part.text) : [],
    );
    if (lines.length === 0) return;
    const { at, runId, agent, turn } = event;
    const head = `${new Date(at).toISOString()} ${format.name(runId)} ${format.name(agent)} Turn ${turn}`;
    write(`${[head, ...lines.map((line) => `  ${line}`)].join("\n")}\n`);
  };
}
