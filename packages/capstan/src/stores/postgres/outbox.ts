import type { Json } from "../../base/json.ts";
import type { BusMessage, DeltaBus } from "../../buses/delta-bus.ts";
import type { PositionedDelta } from "../../runtime/store.ts";

/** Queues notices for other processes and sends them in batches, as messages within the limit of Postgres. */
export interface Outbox {
  /** Queues a notice. It is sent after the notices and deltas before it, within milliseconds. */
  add(topic: string, notice: Notice): void;
  /** Queues deltas. They are sent soon, or with the next notice. */
  addDeltas(topic: string, deltas: readonly PositionedDelta[], head?: Notice): void;
  flush(): Promise<void>;
}

/** The type of a notice, with its details. */
export type Notice = readonly [type: string, ...details: Json[]];

type Entry = { readonly head: Notice; readonly texts: string[] };
type QueuedNotices = { readonly entries: Entry[]; bytes: number; isDropped: boolean };

const deltaDelayMs = 50;
const noticeDelayMs = 2;
/** Postgres allows less than 8000 bytes. */
const maxMessageBytes = 7_900;
const maxQueuedBytes = 256 * 1024;
const maxNumberedTopics = 10_000;

const encoder = new TextEncoder();
const countBytes = (text: string): number => encoder.encode(text).length;

export type OutboxOptions = {
  /** Identifies this store: its own messages come back to it. */
  readonly origin: string;
  readonly bus: Pick<DeltaBus, "publish">;
};

/** A message is `[origin, number, topic, type, …]`. The messages of a topic are numbered without gaps. */
export function createOutbox({ origin, bus }: OutboxOptions): Outbox {
  let waiting = new Map<string, QueuedNotices>();
  const numbers = new Map<string, number>();
  let sending: Promise<void> | undefined;
  let timer: { readonly isUrgent: boolean; readonly id: ReturnType<typeof setTimeout> } | undefined;

  function takeNumber(topic: string): number {
    const number = (numbers.get(topic) ?? 0) + 1;
    numbers.delete(topic);
    numbers.set(topic, number);
    // A number that starts again looks like a gap, after which readers wait for the next facts.
    if (numbers.size > maxNumberedTopics) numbers.delete(numbers.keys().next().value ?? "");
    return number;
  }

  function buildMessages(topic: string, { entries, isDropped }: QueuedNotices): BusMessage[] {
    if (isDropped) takeNumber(topic); // readers notice the gap
    const open = (head: Notice) => JSON.stringify([origin, takeNumber(topic), topic, ...head]).slice(0, -1);
    return entries.flatMap(({ head, texts }) => {
      if (texts.length === 0) return { topic, text: `${open(head)}]` };
      return joinTexts(texts, () => open(head)).map((text) => ({ topic, text }));
    });
  }

  function schedule(isUrgent: boolean): void {
    if (timer && (timer.isUrgent || !isUrgent)) return;
    clearTimeout(timer?.id);
    const id = setTimeout(() => void flush(), isUrgent ? noticeDelayMs : deltaDelayMs);
    if (typeof id === "object" && "unref" in id) id.unref();
    timer = { isUrgent, id };
  }

  async function flush(): Promise<void> {
    clearTimeout(timer?.id);
    timer = undefined;
    while (sending !== undefined) await sending;
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    const messages = [...batch].flatMap(([topic, notices]) => buildMessages(topic, notices));
    // Nothing is repeated: readers poll for facts, and deltas are only displayed.
    sending = bus.publish(messages).catch(() => undefined);
    await sending;
    sending = undefined;
  }

  function open(topic: string): QueuedNotices {
    const queued = waiting.get(topic) ?? { entries: [], bytes: 0, isDropped: false };
    waiting.set(topic, queued);
    return queued;
  }

  return {
    flush,
    add(topic, notice) {
      const { entries } = open(topic);
      if (entries.at(-1)?.head[0] === "facts" && notice[0] === "facts") entries.pop(); // the later one says more
      entries.push({ head: notice, texts: [] });
      schedule(true);
    },
    addDeltas(topic, deltas, head = ["live"]) {
      const queued = open(topic);
      const maxDeltaBytes = maxMessageBytes - countBytes(JSON.stringify(topic)) - 150;
      const last = queued.entries.at(-1);
      const entry = last?.head[0] === head[0] && last.texts.length > 0 ? last : { head, texts: [] };
      for (const delta of deltas) {
        const text = JSON.stringify(delta);
        const bytes = countBytes(text);
        // Too large, or the server cannot keep up: readers get the fact instead.
        if (bytes > maxDeltaBytes || queued.bytes + bytes > maxQueuedBytes) queued.isDropped = true;
        else {
          entry.texts.push(text);
          queued.bytes += bytes;
        }
      }
      if (entry !== last && entry.texts.length > 0) queued.entries.push(entry);
      schedule(false);
    },
  };
}

/** Joins JSON texts to arrays within the size limit; `open` returns the start of each array. */
function joinTexts(texts: readonly string[], open: () => string): string[] {
  const messages: string[] = [];
  let message = "";
  let bytes = 0;
  for (const text of texts) {
    const size = countBytes(text) + 1;
    if (message === "" || bytes + size >= maxMessageBytes) {
      if (message) messages.push(`${message}]`);
      message = open();
      bytes = countBytes(message) + 1;
    }
    message += `,${text}`;
    bytes += size;
  }
  return [...messages, `${message}]`];
}
