import type { PositionedDelta } from "../../store.ts";

/** Queues deltas for other processes and sends them in batches, as payloads within the limit of Postgres. */
export interface Outbox {
  add(sessionId: string, deltas: readonly PositionedDelta[]): void;
  /** Removes and returns the queued payloads of a session, to send them before its next facts. Waits for payloads in flight. */
  take(sessionId: string): Promise<readonly string[]>;
  flush(): Promise<void>;
}

type QueuedDeltas = { texts: string[]; bytes: number; isDropped: boolean };

const flushDelayMs = 50;
/** Postgres allows less than 8000 bytes. */
const maxPayloadBytes = 7_900;
const maxQueuedBytes = 256 * 1024;

const encoder = new TextEncoder();
const countBytes = (text: string): number => encoder.encode(text).length;

/** `send` must not reject: lost deltas are never stored, only displayed. */
export function createOutbox(origin: string, send: (payloads: readonly string[]) => Promise<void>): Outbox {
  let waiting = new Map<string, QueuedDeltas>();
  let sending: { readonly sessions: ReadonlySet<string>; readonly done: Promise<void> } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sent = 0;

  function buildPayloads(sessionId: string, { texts, isDropped }: QueuedDeltas): string[] {
    const payloads: string[] = isDropped ? [JSON.stringify(["facts", origin, sessionId])] : [];
    // Postgres deduplicates equal payloads: the number makes each one unique.
    const open = () => {
      sent += 1;
      return `["live",${JSON.stringify(origin)},${JSON.stringify(sessionId)},${sent}`;
    };
    let payload = "";
    let bytes = 0;
    const closePayload = () => payload && payloads.push(`${payload}]`);
    for (const text of texts) {
      const size = countBytes(text) + 1;
      if (payload === "" || bytes + size >= maxPayloadBytes) {
        closePayload();
        payload = open();
        bytes = countBytes(payload) + 1;
      }
      payload += `,${text}`;
      bytes += size;
    }
    closePayload();
    return payloads;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), flushDelayMs);
    if (typeof timer === "object" && "unref" in timer) timer.unref();
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    while (sending) await sending.done;
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    const done = send([...batch].flatMap(([sessionId, deltas]) => buildPayloads(sessionId, deltas)));
    sending = { sessions: new Set(batch.keys()), done };
    await done;
    if (sending.done === done) sending = undefined;
  }

  return {
    flush,
    add(sessionId, deltas) {
      const queued = waiting.get(sessionId) ?? { texts: [], bytes: 0, isDropped: false };
      waiting.set(sessionId, queued);
      const maxDeltaBytes = maxPayloadBytes - countBytes(JSON.stringify(sessionId)) - 100;
      for (const delta of deltas) {
        const text = JSON.stringify(delta);
        const bytes = countBytes(text);
        // Too large, or the server cannot keep up: readers are notified to read the facts instead.
        if (bytes > maxDeltaBytes || queued.bytes + bytes > maxQueuedBytes) queued.isDropped = true;
        else queued.texts.push(text);
        queued.bytes += bytes > maxDeltaBytes ? 0 : bytes;
      }
      schedule();
    },
    async take(sessionId) {
      if (sending?.sessions.has(sessionId)) await sending.done;
      const queued = waiting.get(sessionId);
      waiting.delete(sessionId);
      return queued ? buildPayloads(sessionId, queued) : [];
    },
  };
}
