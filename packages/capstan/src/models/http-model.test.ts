import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { assert, asyncProperty, constantFrom, double, integer, oneof, string } from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import type { Chunk, ModelRequest, Usage } from "../kernel/model.ts";
import { maskKeys, parseRetryAfter } from "./http-failure.ts";
import { createHttpModel, type HttpModelOptions } from "./http-model.ts";
import type { Wire } from "./wire.ts";

/** The plainest wire: every event is a list of chunks. */
const plain: Wire = {
  name: "plain",
  toRequest: ({ instructions }, { model, stream }) => JSON.stringify({ model, stream, instructions }),
  reader: () => ({
    read({ data }) {
      try {
        return JSON.parse(data);
      } catch (cause) {
        throw new AgentError("bad_chunk", "Not JSON.", { cause });
      }
    },
  }),
  fromJson: (body) => body as Chunk[],
  isOverflow: (message) => message.includes("too long"),
};

const request: ModelRequest = {
  instructions: "Hé.",
  history: [],
  tools: [],
  toolChoice: "none",
  thinking: false,
};

const said: Chunk[][] = [
  [{ type: "text", text: "Grüße 😀" }],
  [
    { type: "text", text: " \u2028 und\nmehr" },
    { type: "call_start", index: 0, name: "look" },
  ],
  [{ type: "finish", reason: "stop" }],
];
const streamed = said
  .map((chunks) => `event: piece\r\ndata: ${JSON.stringify(chunks)}\r\n\r\n`)
  .join(": ping\r\n");

type Fake = Partial<HttpModelOptions> & { respond?: (init: RequestInit) => Response | Promise<Response> };

function modelWith({ respond, ...options }: Fake) {
  return createHttpModel({
    id: "test/one",
    wire: plain,
    settings: { model: "one" },
    url: () => "https://models.test/v1/chat",
    headers: () => ({ authorization: "Bearer sk-secret-1234567890" }),
    ...(respond && { fetch: async (_url, init) => respond(init ?? {}) }),
    ...options,
  });
}

async function chunksOf(fake: Fake, signal: AbortSignal = new AbortController().signal): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of modelWith(fake).stream(request, { signal })) chunks.push(...batch);
  return chunks;
}

const failureOf = (fake: Fake) =>
  chunksOf(fake).then(
    () => undefined,
    (error: AgentError) => error,
  );

function inPieces(bytes: Uint8Array, places: readonly number[]): ReadableStream<Uint8Array> {
  const cuts = [
    0,
    ...places.map((place) => place % bytes.length).toSorted((left, right) => left - right),
    bytes.length,
  ];
  return new ReadableStream({
    start(controller) {
      for (const [index, cut] of cuts.slice(1).entries()) controller.enqueue(bytes.slice(cuts[index], cut));
      controller.close();
    },
  });
}

describe("a streamed answer", () => {
  const bytes = new TextEncoder().encode(streamed);

  it("emits the same chunks however its bytes are split (F17)", async () => {
    for (let size = 1; size <= 7; size++) {
      const places = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
      expect(await chunksOf({ respond: () => new Response(inPieces(bytes, places)) })).toEqual(said.flat());
    }
    await assert(
      asyncProperty(
        integer({ min: 0, max: bytes.length }),
        integer({ min: 0, max: bytes.length }),
        async (one, two) => {
          expect(await chunksOf({ respond: () => new Response(inPieces(bytes, [one, two])) })).toEqual(
            said.flat(),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is read with a byte order mark, and without a last empty line (F17)", async () => {
    const marked = `\ufeff${streamed.trimEnd()}`;
    expect(await chunksOf({ respond: () => new Response(marked) })).toEqual(said.flat());
  });

  it("comes in one batch per read", async () => {
    const batches: number[] = [];
    const model = modelWith({ respond: () => new Response(inPieces(bytes, [])) });
    for await (const batch of model.stream(request, { signal: new AbortController().signal }))
      batches.push(batch.length);
    expect(batches).toEqual([4]);
  });

  it("with an unreadable chunk is refused with a named error (F16)", async () => {
    expect(await failureOf({ respond: () => new Response("data: {half\n\n") })).toMatchObject({
      code: "bad_chunk",
      retryable: true,
    });
  });

  it("with a piece without end is given up before it fills the memory (F18)", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new TextEncoder().encode(sent === 1 ? "data: " : "x".repeat(1_000_000)));
      },
    });
    expect(await failureOf({ respond: () => new Response(endless) })).toMatchObject({
      code: "chunk_too_large",
    });
    expect(sent).toBeLessThan(20);
  });

  it("that breaks off is reported as a transient failure (F05)", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(
          new TypeError("terminated", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) }),
        );
      },
    });
    expect(await failureOf({ respond: () => new Response(broken) })).toMatchObject({
      code: "model_unreachable",
      retryable: true,
    });
  });
});

describe("a request", () => {
  it("is one POST of the wire's text, with the headers of the moment", async () => {
    const seen: RequestInit[] = [];
    let token = 0;
    const fake: Fake = {
      headers: async () => ({ authorization: `Bearer token-${++token}` }),
      respond(init) {
        seen.push(init);
        return new Response(streamed);
      },
    };
    await chunksOf(fake);
    await chunksOf(fake);
    expect(seen.map(({ method, body }) => ({ method, body }))).toEqual(
      Array(2).fill({ method: "POST", body: '{"model":"one","stream":true,"instructions":"Hé."}' }),
    );
    expect(seen.map(({ headers }) => headers)).toMatchObject([
      { authorization: "Bearer token-1" },
      { authorization: "Bearer token-2" },
    ]);
  });

  it("that asks for a whole answer gets the same chunks", async () => {
    const fake: Fake = { stream: false, respond: () => Response.json(said.flat()) };
    expect(await chunksOf(fake)).toEqual(said.flat());
    const page: Fake = { stream: false, respond: () => new Response("<html>") };
    expect(await failureOf(page)).toMatchObject({ code: "bad_chunk" });
  });
});

describe("a response that is not 200", () => {
  it.each([
    [400, "model_rejected", false],
    [401, "model_auth", false],
    [403, "model_auth", false],
    [404, "model_not_found", false],
    [408, "model_overloaded", true],
    [409, "model_overloaded", true],
    [422, "model_rejected", false],
    [429, "model_rate_limited", true],
    [500, "model_overloaded", true],
    [503, "model_overloaded", true],
    [529, "model_overloaded", true],
  ])("%i is %s, retryable %s (F06, F07, F08, F09)", async (status, code, retryable) => {
    const respond = () => Response.json({ error: { message: "No." } }, { status });
    expect(await failureOf({ respond })).toMatchObject({
      code,
      retryable,
      message: `test/one responded with ${status}: No.`,
    });
  });

  it("is not retried when the provider forbids it (F11)", async () => {
    const respond = () => new Response("busy", { status: 500, headers: { "x-should-retry": "false" } });
    expect(await failureOf({ respond })).toMatchObject({ code: "model_overloaded", retryable: false });
  });

  it("reports that the conversation is too long (F26)", async () => {
    const respond = () => Response.json({ error: { message: "prompt is too long" } }, { status: 400 });
    expect(await failureOf({ respond })).toMatchObject({ code: "context_overflow" });
  });

  it.each([
    ["Incorrect API key provided: sk-secret-1234567890.", "Incorrect API key provided: ***"],
    ["Bearer abcdefghijklmnop is expired", "*** is expired"],
    ["key AIzaSyA1234567890abcdefg is not valid", "key *** is not valid"],
    ["token ya29.a0AfH6SMBx-1234567890_abc expired", "token *** expired"],
    ["token eyJhbGciOi.eyJhdWQiOiJ.c2ln-bmF0 expired", "token *** expired"],
  ])("never shows a key that a provider quotes: %s (A112)", (said, shown) => {
    expect(maskKeys(said)).toBe(shown);
  });

  it("shows at most 500 characters of a provider's message (F44)", async () => {
    const failure = await failureOf({ respond: () => new Response("x".repeat(100_000), { status: 500 }) });
    expect(failure?.message.length).toBeLessThan(600);
  });
});

describe("the retry delay of a provider", () => {
  const told = (value: string) => parseRetryAfter((name) => (name === "retry-after" ? value : undefined));

  it.each([
    ["2", 2000],
    ["0.5", 500],
    ["60", 60_000],
    ["0", undefined],
    ["-1", undefined],
    ["NaN", undefined],
    ["soon", undefined],
    ["", undefined],
    ["3600", 3_600_000],
    ["86401", undefined],
    ["1000000000000", undefined],
    ["Wed, 21 Oct 2015 07:28:00 GMT", undefined],
  ])("%j is %s (F10)", (value, ms) => {
    expect(told(value)).toBe(ms);
  });

  it("may be given in milliseconds (F10)", () => {
    expect(parseRetryAfter((name) => (name === "retry-after-ms" ? "1500" : "9"))).toBe(1500);
  });

  it("is never zero, negative or longer than a day, whatever the header (F10)", async () => {
    await assert(
      asyncProperty(
        oneof(string(), double().map(String), constantFrom("1e3", "0x10", "Infinity", " 5 ")),
        async (value) => {
          const ms = parseRetryAfter((name) => (name === "retry-after" ? value : undefined));
          if (ms !== undefined) expect(ms > 0 && ms <= 86_400_000).toBe(true);
        },
      ),
    );
  });
});

describe("a silent provider", () => {
  const silent = new Promise<never>(() => undefined);

  it("before the first byte fails with a named error (F12)", async () => {
    const respond = (init: RequestInit) =>
      Promise.race([
        silent,
        new Promise<never>((_, reject) =>
          init.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
        ),
      ]);
    expect(await failureOf({ respond, timeouts: { firstByteMs: 20 } })).toMatchObject({
      code: "model_timeout",
      retryable: true,
    });
  });

  it("within the response fails with a named error (F13)", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamed.slice(0, 60));
    });
    const failure = await failureOf({ url: () => server, timeouts: { idleMs: 40 } });
    expect(failure).toMatchObject({
      code: "model_timeout",
      message: expect.stringContaining("in mid-answer"),
    });
  });
});

describe("the usage of a response", () => {
  const usage = (outputTokens: number): Chunk => ({ type: "usage", usage: { inputTokens: 0, outputTokens } });
  const text: Chunk = { type: "text", text: "a" };
  const finish: Chunk = { type: "finish", reason: "stop" };
  const price = async (used: Usage) => ({ ...used, cost: used.outputTokens * 2 });
  const sent = (events: Chunk[][]) => events.map((chunks) => `data: ${JSON.stringify(chunks)}\n\n`).join("");

  it.each<Chunk[][]>([
    [[finish]],
    [[finish], [usage(30)]],
    [[finish, usage(30)]],
    [[text, usage(30), finish]],
    [],
  ])("is emitted once, with its cost, however the response ends (S2-59)", async (...ending) => {
    const events = [[text, usage(1)], [usage(30)], ...ending];
    const chunks = await chunksOf({ respond: () => new Response(sent(events)), price });
    const told = chunks.filter(({ type }) => type === "usage");
    expect(told).toEqual([{ type: "usage", usage: { inputTokens: 0, outputTokens: 30, cost: 60 } }]);
  });

  it("is emitted before the error of a failed response (S2-59)", async () => {
    const told = sent([[text, usage(30)]]);
    const bytes = new TextEncoder().encode(`${told}data: {broken\n\n`);
    const respond = () => new Response(inPieces(bytes, [told.length]));
    const chunks: Chunk[] = [];
    await expect(async () => {
      const { signal } = new AbortController();
      for await (const batch of modelWith({ respond, price }).stream(request, { signal }))
        chunks.push(...batch);
    }).rejects.toMatchObject({ code: "bad_chunk" });
    expect(chunks.at(-1)).toMatchObject({ type: "usage", usage: { cost: 60 } });
  });
});

describe("a real connection", () => {
  it("streams over a socket", async () => {
    const server = await serve((incoming, response) => {
      let body = "";
      incoming.on("data", (piece) => {
        body += piece;
      });
      incoming.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const character of streamed) response.write(character);
        response.end(body.includes("Hé.") ? "" : "data: {wrong\n\n");
      });
    });
    expect(await chunksOf({ url: () => server })).toEqual(said.flat());
  });

  it("that is refused, or to a host that does not exist, is reported with the host and without the key (F01, F02)", async () => {
    const refused = await failureOf({ url: () => "http://127.0.0.1:9/v1?key=sk-secret-1234567890" });
    expect(refused).toMatchObject({ code: "model_unreachable", retryable: true });
    const unknown = await failureOf({ url: () => "http://nowhere.invalid/v1" });
    expect(unknown).toMatchObject({
      code: "model_unreachable",
      message: expect.stringContaining("nowhere.invalid"),
    });
    expect(JSON.stringify([refused?.message, unknown?.message])).not.toContain("sk-secret");
  });

  it("that is reset before the headers is reported as a transient failure (F04)", async () => {
    const server = await serve((incoming) => incoming.socket.destroy());
    expect(await failureOf({ url: () => server })).toMatchObject({
      code: "model_unreachable",
      retryable: true,
    });
  });

  it("whose certificate cannot be trusted is not tried again (F03)", async () => {
    const fetch = async () => {
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
      });
    };
    expect(await failureOf({ fetch })).toMatchObject({ code: "model_tls_error", retryable: false });
  });

  it("ends when the run is cancelled", async () => {
    const [reached, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = await serve((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamed.slice(0, 60));
      response.on("close", () => closed.resolve());
      reached.resolve();
    });
    const controller = new AbortController();
    const reading = chunksOf({ url: () => server }, controller.signal).catch(() => undefined);
    await reached.promise;
    controller.abort();
    await reading;
    await closed.promise;
  });
});

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
