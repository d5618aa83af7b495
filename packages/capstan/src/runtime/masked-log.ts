import type { NewRequest } from "../features/exact-requests/stored-request.ts";
import type { DeltaBody, FactBody } from "../kernel/event.ts";
import type { SecretMask } from "../secrets/mask.ts";
import { createDeltaMask, isTextDelta, type TextDelta } from "../secrets/mask-deltas.ts";
import { isTruncatedMessage } from "../secrets/mask-fact.ts";

/** The log of a run and its event stream. */
type RunLog = {
  append(bodies: readonly FactBody[], idSuffix: string, acknowledged?: readonly string[]): Promise<void>;
  appendResult(bodies: readonly FactBody[], idSuffix: string): Promise<void>;
  emit(delta: DeltaBody): void;
  addRequest?(request: NewRequest): void;
};

/**
 * Wraps a log so that it masks facts and deltas. Text that may be the start of a secret is held back until the next
 * delta or the end of the message.
 */
export function withMaskedLog(log: RunLog, mask: SecretMask): RunLog {
  const deltaMask = createDeltaMask<TextDelta>(mask.newStream);
  const { addRequest } = log;

  function emitHeldText(bodies: readonly FactBody[]): void {
    // A warning can arrive within a message; all other facts follow its end.
    const held = bodies.every(({ type }) => type === "warning") ? [] : deltaMask.end();
    const isTruncated = bodies.some(isTruncatedMessage);
    for (const heldDelta of held)
      log.emit(isTruncated ? { ...heldDelta, delta: mask.cutText(heldDelta.delta) } : heldDelta);
  }

  return {
    ...(addRequest && { addRequest: (request) => addRequest(maskRequest(request, mask)) }),
    append(bodies, idSuffix, acknowledged) {
      emitHeldText(bodies);
      return log.append(bodies.map(mask.fact), idSuffix, acknowledged);
    },
    appendResult(bodies, idSuffix) {
      emitHeldText(bodies);
      return log.appendResult(bodies.map(mask.fact), idSuffix);
    },
    emit(delta) {
      if (isTextDelta(delta)) {
        const masked = deltaMask.push(delta);
        if (masked) log.emit(masked);
        return;
      }
      // The restart discards the held-back text too.
      if (delta.type === "message_restart") deltaMask.end();
      log.emit(mask.fact(delta));
    },
  };
}

function maskRequest({ parts: _, ...request }: NewRequest, { text }: SecretMask): NewRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, text(value)]);
  return {
    ...request,
    url: text(request.url),
    headers: Object.fromEntries(headers),
    body: text(request.body),
  };
}
