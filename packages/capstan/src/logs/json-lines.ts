import { describeThrown } from "../errors.ts";
import { type Delta, type Event, isFact } from "../event.ts";
import { type MaskText, toJsonLine } from "../secrets/json-text.ts";
import { createDeltaMask, type DeltaMask, isTextDelta, type TextDelta } from "../secrets/mask-deltas.ts";
import { createStreamFactory, createTextMask } from "../secrets/mask-secrets.ts";

export type JsonLinesOptions = {
  /** Whether deltas are written too; by default facts alone. */
  readonly deltas?: boolean;
  /** Masked wherever they occur, see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * A sink for `hooks.onEvent`: every event as one line of JSON. `write` gets whole lines, each with its line end; what
 * it throws goes to the run, which then warns once and goes on without this sink.
 */
export function jsonLines(
  write: (line: string) => void,
  { deltas = false, secrets = [] }: JsonLinesOptions = {},
): (event: Event) => void {
  const newStream = createStreamFactory(secrets);
  const mask = secrets.length > 0 ? createTextMask(newStream) : undefined;
  const runs = new Map<string, DeltaMask<Delta & TextDelta>>();
  const writeEvent = (event: Event) => write(`${formatEvent(event, mask)}\n`);
  return (event) => {
    if (!isFact(event) && !deltas) return;
    if (isTextDelta(event)) {
      const deltaMask = runs.get(event.runId) ?? createDeltaMask(newStream);
      runs.set(event.runId, deltaMask);
      const masked = deltaMask.push(event);
      if (masked) writeEvent(masked);
      return;
    }
    if (isFact(event) || event.type === "message_restart") {
      for (const delta of runs.get(event.runId)?.end() ?? []) writeEvent(delta);
      runs.delete(event.runId);
    }
    writeEvent(event);
  };
}

function formatEvent(event: Event, mask: MaskText | undefined): string {
  try {
    return toJsonLine(event, mask);
  } catch (thrown) {
    // Progress of a tool may be anything; a fact has been stored as JSON.
    const { type, runId, sessionId, agent, turn } = event;
    const problem = `This event is not JSON: ${describeThrown(thrown, "result_invalid").message}`;
    return toJsonLine({ type, runId, sessionId, agent, turn, problem }, mask);
  }
}
