import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Entry, MediaPart } from "../../kernel/history.ts";
import type { HostedToolSpec } from "../../kernel/hosted-tool.ts";
import type { Model } from "../../kernel/model.ts";
import { anthropic } from "../anthropic.ts";
import { azure } from "../azure.ts";
import { gemini } from "../gemini.ts";
import { openai } from "../openai.ts";
import { vertex } from "../vertex.ts";

type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};
type Answer = (request: Received, response: ServerResponse, origin: string) => void;

/** Waits for nothing but a server that does not answer. */
const quickClock: Clock = {
  ...systemClock,
  after: (ms, fire) => systemClock.after(ms > 20_000 ? ms : 1, fire),
};

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a real server on the loopback that keeps the requests it receives. */
async function startServer(answer: Answer): Promise<{ origin: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url = "", headers } = request;
    const kept = { method, url, headers, body: Buffer.concat(chunks) };
    received.push(kept);
    answer(kept, response, origin);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push({ close: () => server.closeAllConnections() ?? server.close() });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, received };
}

function reply(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

const readForm = ({ headers, body }: Received): Promise<FormData> =>
  new Response(new Uint8Array(body), {
    headers: { "content-type": headers["content-type"] ?? "" },
  }).formData();

async function upload(model: Model, text: string, mediaType = "application/pdf", signal?: AbortSignal) {
  const file = { data: new TextEncoder().encode(text), mediaType, name: "report.pdf" };
  const part = await model.files?.upload(file, signal && { signal });
  if (!part) throw new Error("The model has no files.");
  return part;
}

/** Names files by count. */
function createIds(): () => string {
  let count = 0;
  return () => `file-${++count}`;
}

describe("a file uploaded to OpenAI", () => {
  it("is a form with its purpose, and becomes a part for any message", async () => {
    const { origin, received } = await startServer((_, response) => reply(response, 200, { id: "file-1" }));
    const model = openai({ model: "m", apiKey: "sk-test", baseURL: `${origin}/v1` });
    expect(await upload(model, "the bytes")).toEqual({
      ...{ type: "file", mediaType: "application/pdf" },
      file: { provider: "openai", id: "file-1" },
    });
    expect(await upload(model, "pixels", "image/png")).toMatchObject({ type: "image" });
    const [first, second] = received;
    if (!first || !second) throw new Error("The server received no request.");
    expect([first.method, first.url, first.headers.authorization]).toEqual([
      ...["POST", "/v1/files", "Bearer sk-test"],
    ]);
    const form = await readForm(first);
    const file = form.get("file") as File;
    expect([form.get("purpose"), file.name, file.type, await file.text()]).toEqual([
      ...["user_data", "report.pdf", "application/pdf", "the bytes"],
    ]);
    expect((await readForm(second)).get("purpose")).toBe("vision");
  });

  it("is uploaded once per client for the same bytes, also by callers at the same time", async () => {
    const nextId = createIds();
    const { origin, received } = await startServer((_, response) => reply(response, 200, { id: nextId() }));
    const options = { model: "m", apiKey: "k", baseURL: origin };
    const model = openai(options);
    const parts = await Promise.all([upload(model, "same"), upload(model, "same")]);
    const base64 = { data: Buffer.from("same").toString("base64"), mediaType: "application/pdf" };
    expect([...parts, await model.files?.upload(base64)].map((part) => part?.file?.id)).toEqual([
      ...["file-1", "file-1", "file-1"],
    ]);
    expect((await upload(model, "other")).file?.id).toBe("file-2");
    await upload(openai(options), "same");
    expect(received).toHaveLength(3);
  });

  it("is uploaded again after a failure that passes, and not after one that does not", async () => {
    const statuses = [503, 429, 200, 401];
    const { origin, received } = await startServer((_, response) => {
      const status = statuses.shift() ?? 200;
      const error = { error: { message: "Bad key sk-secret-1234567890" } };
      reply(response, status, status === 200 ? { id: "file-1" } : error, { "retry-after-ms": "1" });
    });
    const model = openai({ model: "m", apiKey: "sk-secret-1234567890", baseURL: origin, clock: quickClock });
    expect((await upload(model, "one")).file?.id).toBe("file-1");
    expect(received).toHaveLength(3);
    const failure = await upload(model, "two").catch((thrown) => thrown);
    expect([failure.code, failure.message]).toEqual([
      ...["model_auth", "openai/m responded with 401: Bad key ***"],
    ]);
    expect(received).toHaveLength(4);
    expect((await upload(model, "two")).file?.id).toBe("file-1");
  });

  it("is given up when its caller aborts, and another caller's upload of the same bytes goes through", async () => {
    const nextId = createIds();
    const controller = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const { origin } = await startServer((_, response) => {
      const id = nextId();
      if (id === "file-1") arrived.resolve();
      else reply(response, 200, { id });
    });
    const model = openai({ model: "m", apiKey: "k", baseURL: origin });
    const first = upload(model, "same", "application/pdf", controller.signal);
    await arrived.promise;
    const second = upload(model, "same");
    setTimeout(() => controller.abort(new Error("Not needed.")), 20); // usually while the second waits for the first
    await expect(first).rejects.toThrow("Not needed.");
    expect((await second).file?.id).toBe("file-2");
  });

  it("can be removed, also if it is gone already, and is then uploaded anew", async () => {
    const nextId = createIds();
    const { origin, received } = await startServer(({ method }, response) =>
      method === "DELETE" ? reply(response, 404, {}) : reply(response, 200, { id: nextId() }),
    );
    const model = openai({ model: "m", apiKey: "k", baseURL: origin });
    const part = await upload(model, "x");
    await model.files?.remove(part);
    expect([received[1]?.method, received[1]?.url]).toEqual(["DELETE", "/files/file-1"]);
    expect((await upload(model, "x")).file?.id).toBe("file-2");
    const foreign: MediaPart = { ...part, file: { provider: "gemini", id: "1" } };
    await expect(model.files?.remove(foreign)).rejects.toThrow("The part has no file at openai.");
  });

  it("must have bytes", async () => {
    const model = openai({ model: "m", apiKey: "k", baseURL: "http://127.0.0.1:9" });
    await expect(upload(model, "")).rejects.toThrow("The file to upload is empty.");
    const file = { data: "no!", mediaType: "text/plain" };
    await expect(model.files?.upload(file)).rejects.toThrow("is not base64");
  });
});

describe("a file uploaded to Anthropic", () => {
  it("needs the beta header of the files API, for the upload and for each request that names it", async () => {
    const answer = { type: "message", content: [{ type: "text", text: "Read." }], stop_reason: "end_turn" };
    const { origin, received } = await startServer(({ url }, response) =>
      reply(response, 200, url === "/v1/files" ? { id: "file_1", expires_at: null } : answer),
    );
    const headers = { "Anthropic-Beta": "other-2026-01-01" };
    const model = anthropic({ model: "m", apiKey: "k", baseURL: origin, stream: false, headers });
    const part = await upload(model, "the bytes");
    const ask = async (
      content: Extract<Entry, { type: "user" }>["content"],
      hosted: readonly HostedToolSpec[] = [],
    ) => {
      const request = { instructions: "", tools: [], toolChoice: "auto", thinking: false } as const;
      const history: Entry[] = [{ type: "user", content }];
      const { signal } = new AbortController();
      for await (const _ of model.stream({ ...request, history, hosted }, { signal }));
    };
    await ask([part]);
    const options = { label: "docs", url: "https://example.org/mcp", approval: "never" } as const;
    await ask([part], [{ kind: "mcp", name: "mcp_docs", options }]);
    await ask('Explain "source":{"type":"file"}');
    expect(received.map(({ headers: sent }) => sent["anthropic-beta"])).toEqual([
      "other-2026-01-01,files-api-2025-04-14",
      "other-2026-01-01,files-api-2025-04-14",
      expect.stringMatching(/^other-2026-01-01,mcp-client-[\d-]+,files-api-2025-04-14$/),
      "other-2026-01-01",
    ]);
    expect((await readForm(received[0] as Received)).has("purpose")).toBe(false);
    expect(received[1]?.body.toString()).toContain('"source":{"type":"file","file_id":"file_1"}');
  });
});

const size = 8 * 1024 * 1024 + 1000;

/** A server with Gemini's resumable uploads. The second piece fails once, after the server has kept a part of it. */
function createGeminiAnswer(state: { readonly pieces: Buffer[]; expirationTime: string }): Answer {
  let failures = 1;
  let polls = 0;
  const file = (name: string) => ({
    name: "files/abc",
    uri: "https://generativelanguage.googleapis.com/v1beta/files/abc",
    state: name,
    expirationTime: state.expirationTime,
  });
  return ({ url, headers, body }, response, origin) => {
    const received = Buffer.concat(state.pieces).length;
    switch (headers["x-goog-upload-command"]) {
      case "start":
        return reply(response, 200, {}, { "x-goog-upload-url": `${origin}/resume?upload_id=1` });
      case "query":
        return reply(response, 200, {}, { "x-goog-upload-size-received": String(received) });
      case undefined:
        polls += 1;
        return reply(
          response,
          url === "/v1beta/files/abc" ? 200 : 404,
          file(polls < 2 ? "PROCESSING" : "ACTIVE"),
        );
    }
    if (Number(headers["x-goog-upload-offset"]) !== received) return reply(response, 400, {});
    if (received > 0 && failures-- > 0) {
      state.pieces.push(body.subarray(0, 100));
      return reply(response, 503, {}, { "retry-after-ms": "1" });
    }
    state.pieces.push(body);
    const isLast = headers["x-goog-upload-command"] === "upload, finalize";
    return reply(response, 200, isLast ? { file: file("PROCESSING") } : {});
  };
}

describe("a file uploaded to Gemini", () => {
  it("is sent in pieces, continued where a piece failed, and awaited until it is processed", async () => {
    const expirationTime = new Date(Date.now() + 48 * 3_600_000).toISOString();
    const state = { pieces: [], expirationTime };
    const { origin, received } = await startServer(createGeminiAnswer(state));
    const model = gemini({ model: "m", apiKey: "the-key", baseURL: `${origin}/v1beta`, clock: quickClock });
    const data = new Uint8Array(size).map((_, index) => index % 251);
    const part = await model.files?.upload({ data, mediaType: "video/mp4" });
    expect(part).toEqual({
      ...{ type: "file", mediaType: "video/mp4" },
      file: {
        provider: "gemini",
        id: "https://generativelanguage.googleapis.com/v1beta/files/abc",
        expiresAt: Date.parse(expirationTime),
      },
    });
    expect(Buffer.concat(state.pieces).equals(Buffer.from(data))).toBe(true);
    const [start] = received;
    expect([start?.url, start?.headers["x-goog-upload-header-content-length"]]).toEqual([
      ...["/upload/v1beta/files", String(size)],
    ]);
    // The URL of the upload grants access by itself.
    const withKey = received.filter(({ headers }) => headers["x-goog-api-key"] === "the-key");
    expect(withKey.map(({ url }) => url)).not.toContain("/resume?upload_id=1");
    expect(withKey.map(({ url }) => url)).toContain("/v1beta/files/abc");
  });

  it("is uploaded again shortly before it expires", async () => {
    const state = { pieces: [], expirationTime: new Date(Date.now() + 3_600_000).toISOString() };
    const { origin, received } = await startServer(createGeminiAnswer(state));
    let now = Date.now();
    const clock = { ...quickClock, now: () => now };
    const model = gemini({ model: "m", apiKey: "k", baseURL: `${origin}/v1beta`, clock });
    const countUploads = () =>
      received.filter(({ headers }) => headers["x-goog-upload-command"] === "start").length;
    await upload(model, "x");
    await upload(model, "x");
    expect(countUploads()).toBe(1);
    now += 55 * 60_000;
    state.pieces.length = 0;
    await upload(model, "x");
    expect(countUploads()).toBe(2);
  });

  it("is removed by its name", async () => {
    const { origin, received } = await startServer((_, response) => reply(response, 200, {}));
    const model = gemini({ model: "m", apiKey: "k", baseURL: `${origin}/v1beta` });
    const id = "https://generativelanguage.googleapis.com/v1beta/files/abc";
    await model.files?.remove({ type: "file", mediaType: "video/mp4", file: { provider: "gemini", id } });
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual(["DELETE /v1beta/files/abc"]);
  });

  it("that cannot be processed is a named error", async () => {
    const { origin } = await startServer(({ headers }, response, own) => {
      if (headers["x-goog-upload-command"] === "start")
        return reply(response, 200, {}, { "x-goog-upload-url": `${own}/resume` });
      reply(response, 200, { file: { name: "files/abc", uri: "u", state: "FAILED" } });
    });
    const model = gemini({ model: "m", apiKey: "k", baseURL: `${origin}/v1beta` });
    const failure = await upload(model, "x").catch((thrown) => thrown);
    expect([failure.code, failure.message]).toEqual([
      ...["model_rejected", "gemini/m could not process the uploaded file."],
    ]);
  });
});

describe("a cloud that speaks the API of another provider", () => {
  const token = () => "t";
  const clouds = [
    {
      name: "azure",
      owner: "openai",
      model: azure({ model: "m", apiKey: "k", baseURL: "http://127.0.0.1:9" }),
    },
    { name: "vertex (Gemini)", owner: "gemini", model: vertex({ model: "gemini-3", project: "p", token }) },
    {
      name: "vertex (Claude)",
      owner: "anthropic",
      model: vertex({ model: "claude-x", project: "p", token }),
    },
  ];

  it.each(clouds)("$name has no files, and reports a file of $owner without bytes as unusable", ({
    owner,
    model,
  }) => {
    const part: MediaPart = {
      ...{ type: "file", mediaType: "application/pdf" },
      file: { provider: owner, id: "f1" },
    };
    expect([
      model.files,
      model.acceptsMedia?.(part),
      model.acceptsMedia?.({ ...part, data: "cGRm" }),
    ]).toEqual([...[undefined, false, true]]);
  });
});
