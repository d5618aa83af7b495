import { type Event, isFact } from "../event.ts";
import { createLogFormatter } from "./log-formatter.ts";

export type ReasoningLogOptions = {
  /** Masked wherever they occur, see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * A sink for `hooks.onEvent`: what the model thought, whole. `write` gets one block per message: a line that says when,
 * in which run, which agent and in which turn, then the thoughts, indented, so that they cannot pass for such a line.
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
