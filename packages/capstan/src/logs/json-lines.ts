import { describeThrown } from "../base/errors.ts";
import { type Delta, type Event, isFact } from "../kernel/event.ts";
import { type MaskText, toJsonLine } from "../secrets/json-text.ts";
import { createDeltaMask, type DeltaMask, isTextDelta, type TextDelta } from "../secrets/mask-deltas.ts";
import { createStreamFactory, createTextMask } from "../secrets/mask-secrets.ts";

export type JsonLinesOptions = {
  /** Also writes deltas. Default: facts only. */
  readonly deltas?: boolean;
  /** Masked wherever they occur; see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * Creates an `onEvent` hook that writes every event as one line of JSON. `write` receives whole lines including the
 * line break. If it throws, the run warns once and continues without this hook.
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
    // Tool progress can be any value; facts are always JSON.
    const { type, runId, sessionId, agent, turn } = event;
    const problem = `Cannot serialize the event: ${describeThrown(thrown, "result_invalid").message}`;
    return toJsonLine({ type, runId, sessionId, agent, turn, problem }, mask);
  }
}
