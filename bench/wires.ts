// What the clients of the providers cost per piece of a streamed answer, beside a bare loop over the same bytes, and
// what the request of a late turn costs beside an early one. Run as a program it prints its figures as JSON.
import type { Entry, Model, ModelRequest } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { compatible } from "capstan/models/compatible";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { chat, content, type Encode, messages, type Piece, responses } from "./wire-streams.ts";

/** Microseconds of processor time per piece, of the client and of the bare loop; the ratio is the median over rounds. */
export type StreamRow = {
  readonly client: string;
  readonly piece: Piece;
  readonly bareUs: number;
  readonly clientUs: number;
  readonly ratio: number;
};
/** Bytes of the request written per microsecond, at the 100th and the 400th turn. */
export type RequestRow = { readonly client: string; readonly at100: number; readonly at400: number };
export type Wires = { readonly streams: readonly StreamRow[]; readonly requests: readonly RequestRow[] };

type Client = { readonly name: string; readonly encode: Encode; make(fetch: typeof globalThis.fetch): Model };

const piecesPerStream = 1000;
const streamsPerSample = 4;
const rounds = 25;
const warmUpMs = 400;
/** What one read from a connection often gives: a TCP segment. */
const bytesPerRead = 1460;

const key = { apiKey: "key-1234567890" };
export const clients: readonly Client[] = [
  {
    name: "openai, chat",
    encode: chat,
    make: (fetch) => openai({ model: "gpt-4o-mini", api: "chat", fetch, ...key }),
  },
  {
    name: "openai, responses",
    encode: responses,
    make: (fetch) => openai({ model: "gpt-5-mini", fetch, ...key }),
  },
  {
    name: "anthropic",
    encode: messages,
    make: (fetch) => anthropic({ model: "claude-haiku-4-5", fetch, ...key }),
  },
  { name: "gemini", encode: content, make: (fetch) => gemini({ model: "gemini-2.5-flash", fetch, ...key }) },
  {
    name: "compatible",
    encode: chat,
    make: (fetch) => compatible({ model: "local", baseURL: "http://localhost/v1", fetch, ...key }),
  },
];

/** A `fetch` that answers at once with these bytes, a read at a time. */
function answering(body: string): typeof fetch {
  const bytes = new TextEncoder().encode(body);
  return async () => {
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, at + bytesPerRead));
        at += bytesPerRead;
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
}

/** The least that anyone has to do: decode, split, parse. */
export async function bareLoop(send: typeof fetch): Promise<number> {
  const response = await send("http://localhost/", { method: "POST", body: "{}" });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let events = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return events;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const text = part.slice(part.indexOf("data: ") + 6);
      if (text !== "[DONE]" && JSON.parse(text)) events++;
    }
  }
}

const question: ModelRequest = {
  instructions: "Be brief.",
  history: [{ type: "user", content: "Write." }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
};

/** How many chunks came. Throws when the answer has no end. */
export async function clientLoop(model: Model): Promise<number> {
  const { signal } = new AbortController();
  let chunks = 0;
  let isWhole = false;
  for await (const batch of model.stream(question, { signal })) {
    chunks += batch.length;
    isWhole ||= batch.some(({ type }) => type === "finish");
  }
  if (!isWhole) throw new Error(`The answer of ${model.id} has no end.`);
  return chunks;
}

async function sample(loop: () => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < streamsPerSample; n++) await loop();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (streamsPerSample * piecesPerStream);
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

type Case = {
  readonly client: string;
  readonly piece: Piece;
  readonly bare: () => Promise<number>;
  readonly ours: () => Promise<number>;
  readonly samples: { readonly bare: number; readonly ours: number }[];
};

export function casesOf({ name, encode, make }: Client, count: number): Case[] {
  return (["text", "arguments"] as const).map((piece) => {
    const send = answering(encode(piece, count));
    const model = make(send);
    return { client: name, piece, bare: () => bareLoop(send), ours: () => clientLoop(model), samples: [] };
  });
}

async function measureStreams(): Promise<StreamRow[]> {
  const cases = clients.flatMap((client) => casesOf(client, piecesPerStream));
  for (const { bare, ours } of cases) {
    const until = performance.now() + warmUpMs;
    while (performance.now() < until) for (const loop of [bare, ours]) await loop();
  }
  for (let round = 0; round < rounds; round++) {
    for (const { bare, ours, samples } of cases) {
      // In turns, so that neither is always the one that pays for the other's garbage.
      if (round % 2 === 0) samples.push({ bare: await sample(bare), ours: await sample(ours) });
      else {
        const measured = await sample(ours);
        samples.push({ bare: await sample(bare), ours: measured });
      }
    }
  }
  return cases.map(({ client, piece, samples }) => ({
    client,
    piece,
    bareUs: median(samples.map(({ bare }) => bare)),
    clientUs: median(samples.map(({ ours }) => ours)),
    ratio: median(samples.map(({ bare, ours }) => ours / bare)),
  }));
}

function turn(n: number): Entry[] {
  const input = { path: `src/part-${n}.ts`, from: n, to: n + 40 };
  return [
    {
      type: "assistant",
      parts: [
        { type: "text", text: `I look at part ${n}.` },
        { type: "call", id: `call_${n}`, name: "read", input },
      ],
    },
    {
      type: "result",
      callId: `call_${n}`,
      name: "read",
      status: "ok",
      content: `Line ${n}: "quoted", with a\nbreak. `.repeat(12),
    },
  ];
}

const tools = [
  { name: "read", description: "Reads", input: { type: "object", properties: { path: { type: "string" } } } },
];

/** Sends the request of a conversation and says how many bytes it has, and how many microseconds it took to write. */
type Write = (history: readonly Entry[]) => Promise<{ readonly bytes: number; readonly us: number }>;

/** Room for the longest request: encoding is part of writing it, making room for it is not. */
const room = new Uint8Array(2_000_000);
const encoder = new TextEncoder();

function writerOf({ encode, make }: Client): Write {
  const answer = encode("text", 1);
  const { signal } = new AbortController();
  let [sentAt, bytes] = [0, 0];
  const model = make(async (_url, init) => {
    bytes = encoder.encodeInto(String(init?.body), room).written;
    sentAt = performance.now();
    return new Response(answer);
  });
  return async (history) => {
    const startedAt = performance.now();
    for await (const _batch of model.stream({ ...question, history, tools }, { signal }));
    return { bytes, us: (sentAt - startedAt) * 1000 };
  };
}

/** The least there is to do for a longer request: each entry written once, and all of them joined for each turn. */
function bareWriter(): Write {
  const parts: string[] = [];
  return async (history) => {
    const startedAt = performance.now();
    for (const entry of history.slice(parts.length)) parts.push(JSON.stringify(entry));
    const bytes = encoder.encodeInto(`[${parts.join(",")}]`, room).written;
    return { bytes, us: (performance.now() - startedAt) * 1000 };
  };
}

/** Bytes per microsecond around these turns of one conversation, as it grows. */
async function writeSpeeds(write: Write, turns: readonly number[]): Promise<number[]> {
  const history: Entry[] = [{ type: "user", content: "Read all." }];
  const speeds = turns.map((): number[] => []);
  for (let n = 0; n <= Math.max(...turns) + 5; n++) {
    history.push(...turn(n));
    const { bytes, us } = await write(history);
    const place = turns.findIndex((at) => Math.abs(n - at) <= 5);
    speeds[place]?.push(bytes / us);
  }
  return speeds.map(median);
}

async function measureRequests(): Promise<RequestRow[]> {
  const writers = [
    { name: "bare join", make: bareWriter },
    ...clients.map((client) => ({ name: client.name, make: () => writerOf(client) })),
  ];
  const speeds = writers.map((): number[][] => []);
  for (let round = 0; round < 11; round++)
    for (const [place, { make }] of writers.entries()) {
      const measured = await writeSpeeds(make(), [100, 400]);
      // The first rounds are the warm-up.
      if (round >= 2) speeds[place]?.push(measured);
    }
  return writers.map(({ name }, place) => {
    const [at100 = 0, at400 = 0] = [0, 1].map((n) =>
      median((speeds[place] ?? []).map((pair) => pair[n] ?? 0)),
    );
    return { client: name, at100, at400 };
  });
}

export async function measureWires(): Promise<Wires> {
  return { streams: await measureStreams(), requests: await measureRequests() };
}

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(await measureWires()));
