import type { PositionedDelta } from "../../store.ts";

/** Live pieces on their way to other processes: gathered, then sent as payloads that Postgres takes. */
export interface Outbox {
  add(sessionId: string, pieces: readonly PositionedDelta[]): void;
  /** What waits for a session, to be sent in front of its next facts; after what is being sent already. */
  take(sessionId: string): Promise<readonly string[]>;
  flush(): Promise<void>;
}

type Waiting = { texts: string[]; bytes: number; isDropped: boolean };

const gatherMs = 50;
/** Postgres takes less than 8000 bytes. */
const mostBytes = 7_900;
const mostWaitingBytes = 256 * 1024;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** `send` must not reject: what is lost on the way was only to be shown. */
export function openOutbox(origin: string, send: (payloads: readonly string[]) => Promise<void>): Outbox {
  let waiting = new Map<string, Waiting>();
  let sending: { readonly sessions: ReadonlySet<string>; readonly done: Promise<void> } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sent = 0;

  function payloadsOf(sessionId: string, { texts, isDropped }: Waiting): string[] {
    const payloads: string[] = isDropped ? [JSON.stringify(["facts", origin, sessionId])] : [];
    // Postgres sends equal payloads once: the number tells them apart.
    const open = () => {
      sent += 1;
      return `["live",${JSON.stringify(origin)},${JSON.stringify(sessionId)},${sent}`;
    };
    let payload = "";
    let bytes = 0;
    const shut = () => payload && payloads.push(`${payload}]`);
    for (const text of texts) {
      const size = bytesOf(text) + 1;
      if (payload === "" || bytes + size >= mostBytes) {
        shut();
        payload = open();
        bytes = bytesOf(payload) + 1;
      }
      payload += `,${text}`;
      bytes += size;
    }
    shut();
    return payloads;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), gatherMs);
    if (typeof timer === "object" && "unref" in timer) timer.unref();
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    while (sending) await sending.done;
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    const done = send([...batch].flatMap(([sessionId, each]) => payloadsOf(sessionId, each)));
    sending = { sessions: new Set(batch.keys()), done };
    await done;
    if (sending.done === done) sending = undefined;
  }

  return {
    flush,
    add(sessionId, pieces) {
      const own = waiting.get(sessionId) ?? { texts: [], bytes: 0, isDropped: false };
      waiting.set(sessionId, own);
      const room = mostBytes - bytesOf(JSON.stringify(sessionId)) - 100;
      for (const piece of pieces) {
        const text = JSON.stringify(piece);
        const bytes = bytesOf(text);
        // Too large, or the server does not keep up: readers are sent to the facts, which say it all.
        if (bytes > room || own.bytes + bytes > mostWaitingBytes) own.isDropped = true;
        else own.texts.push(text);
        own.bytes += bytes > room ? 0 : bytes;
      }
      schedule();
    },
    async take(sessionId) {
      if (sending?.sessions.has(sessionId)) await sending.done;
      const own = waiting.get(sessionId);
      waiting.delete(sessionId);
      return own ? payloadsOf(sessionId, own) : [];
    },
  };
}
