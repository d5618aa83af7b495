import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventStreamCodec } from "@smithy/core/event-streams";
import type { MessageHeaders } from "@smithy/types";
import { createParser } from "eventsource-parser";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import {
  type CloudRequest,
  type CloudServer,
  joinText,
  readChunks,
  shortRequest,
  startCloud,
} from "../testing/cloud-server.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { modelSuite } from "../testing/model-suite.ts";
import { anthropicEncoder } from "../testing/wire-encoders.ts";
import { anthropic } from "./anthropic.ts";
import { type BedrockOptions, bedrock } from "./bedrock.ts";
import { getNamedModel } from "./named-model.ts";

// Its ES modules cannot be loaded by Node.
const { SignatureV4 } = createRequire(import.meta.url)(
  "@smithy/signature-v4",
) as typeof import("@smithy/signature-v4");

const claude = "us.anthropic.claude-haiku-4-5-20251001-v1:0";
const keys = {
  accessKeyId: "AKIDEXAMPLE123456789",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "IQoJb3JpZ2luX2VjEXAMPLETOKEN==",
};

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
);

/** Encodes a message with AWS's own codec. */
function frame(headers: { readonly [name: string]: string }, body: object): Uint8Array {
  const tagged: MessageHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, { type: "string", value }]),
  );
  return codec.encode({ headers: tagged, body: new TextEncoder().encode(JSON.stringify(body)) });
}

const chunkHeaders = {
  ":message-type": "event",
  ":event-type": "chunk",
  ":content-type": "application/json",
};
const frameEvent = (data: string) =>
  frame(chunkHeaders, { bytes: Buffer.from(data).toString("base64"), p: "abcdefgh" });

/** Sends the request on, and frames the server-sent events of the response as Bedrock does. */
const framingFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.ok) return response;
  let unread = "";
  const frames: Uint8Array[] = [];
  const parser = createParser({ onEvent: ({ data }) => frames.push(frameEvent(data)) });
  const reframe = new TransformStream<string, Uint8Array>({
    transform(text, controller) {
      unread = text.slice(text.lastIndexOf("\n\n") + 2);
      parser.feed(text);
      for (const bytes of frames.splice(0)) controller.enqueue(bytes);
    },
    flush(controller) {
      if (unread) controller.enqueue(frameEvent(unread).subarray(0, -9)); // an event that was cut
    },
  });
  const text = new TextDecoderStream() as TransformStream<Uint8Array, string>;
  return new Response(response.body?.pipeThrough(text).pipeThrough(reframe));
};

modelSuite("bedrock (claude)", anthropicEncoder, (baseURL) =>
  bedrock({
    model: "anthropic.claude-test",
    region: "us-east-1",
    credentials: keys,
    baseURL,
    fetch: framingFetch,
  }),
);

const events = [
  { type: "message_start", message: { id: "m", content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 😀" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" } },
  { type: "message_stop", "amazon-bedrock-invocationMetrics": { inputTokenCount: 1 } },
].map((event) => JSON.stringify(event));
const framed = Buffer.concat(events.map(frameEvent));
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});
const claudeJson = {
  type: "message",
  content: [{ type: "text", text: "Grüße 😀" }],
  stop_reason: "end_turn",
};
const chatJson = { choices: [{ index: 0, message: { content: "Grüße 😀" }, finish_reason: "stop" }] };
const responseJson = {
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Grüße 😀" }] }],
};

function answer({ url }: { readonly url: string }) {
  if (url.endsWith("stream")) return { body: framed };
  const json = url.endsWith("/invoke") ? claudeJson : url.endsWith("/responses") ? responseJson : chatJson;
  return { body: JSON.stringify(json) };
}

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret ? createHmac("sha256", secret as Buffer) : createHash("sha256");
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

/** Signs the request again, as it arrived, with AWS's own signer, and compares. */
async function isSignatureValid(
  request: CloudRequest,
  credentials: typeof keys,
  region: string,
): Promise<boolean> {
  const sent = request.headers.authorization ?? "";
  const signedHeaders = /SignedHeaders=([^,]+)/.exec(sent)?.[1]?.split(";") ?? [];
  const date = String(request.headers["x-amz-date"]);
  const headers = Object.fromEntries(signedHeaders.map((name) => [name, String(request.headers[name])]));
  const signer = new SignatureV4({
    service: "bedrock",
    region,
    credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { pathname } = new URL(request.url, "http://x");
  const signed = await signer.sign(
    {
      method: "POST",
      protocol: "http:",
      hostname: "x",
      path: pathname,
      query: {},
      headers,
      body: request.body,
    },
    {
      signingDate: new Date(date.replace(/(....)(..)(..T..)(..)(..Z)/, "$1-$2-$3:$4:$5")),
      signableHeaders: new Set(signedHeaders),
    },
  );
  const getSignature = (text = "") => /Signature=(\w{64})$/.exec(text)?.[1];
  return (
    getSignature(sent) !== undefined && getSignature(sent) === getSignature(signed.headers.authorization)
  );
}

const servers: CloudServer[] = [];
const folders: string[] = [];
const start = async (respond: Parameters<typeof startCloud>[0]) => {
  const server = await startCloud(respond);
  servers.push(server);
  return server;
};
const variables = [
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"],
  ...["AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
  ...["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
  ...["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"],
];

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-aws-"));
  folders.push(folder);
  for (const name of variables) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_CONFIG_FILE", join(folder, "config"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(folder, "credentials"));
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const create = (options: Partial<BedrockOptions>) =>
  bedrock({ model: claude, region: "eu-central-1", credentials: keys, circuit: false, ...options });

describe("a request to Bedrock", () => {
  it.each([
    ["streams", claude, { stream: true }],
    ["does not stream", claude, { stream: false }],
    ["names a profile by its ARN", "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x", {}],
    ["is for another model", "openai.gpt-oss-120b-1:0", { stream: false }],
    ["has headers of the caller", claude, { headers: { "X-Team": "  a   b " } }],
    ["has keys without a session", claude, { credentials: { ...keys, sessionToken: undefined } }],
  ])("has a signature that AWS's own signer confirms when it %s", async (_name, model, options) => {
    const server = await start(answer);
    await readChunks(create({ model, baseURL: server.url, ...options }));
    const credentials = { ...keys, ...(options as { credentials?: typeof keys }).credentials };
    const [request] = server.requests as [CloudRequest];
    expect(await isSignatureValid(request, credentials, "eu-central-1")).toBe(true);
    expect(
      await isSignatureValid({ ...request, body: `${request.body} ` }, credentials, "eu-central-1"),
    ).toBe(false);
    expect(await isSignatureValid(request, credentials, "us-east-1")).toBe(false);
  });

  it("for Claude is Anthropic's, without the model and the stream in the body", async () => {
    const server = await start(answer);
    const headers = { "anthropic-beta": "one-beta, other-beta" };
    const model = create({ baseURL: server.url, headers, serviceTier: "priority" });
    expect(joinText(await readChunks(model))).toBe("Grüße 😀");
    const [request] = server.requests as [CloudRequest];
    expect(request.url).toBe(`/model/${encodeURIComponent(claude)}/invoke-with-response-stream`);
    expect(request.headers.accept).toBe("application/vnd.amazon.eventstream");
    const body = JSON.parse(request.body);
    expect(body).toMatchObject({
      anthropic_version: "bedrock-2023-05-31",
      anthropic_beta: ["one-beta", "other-beta"],
      max_tokens: 64_000,
    });
    for (const field of ["model", "stream", "service_tier"]) expect(body).not.toHaveProperty(field);
    expect(model.checkSettings?.({}).map(({ field }) => field)).toEqual(["serviceTier"]);
    const whole = create({ baseURL: server.url, stream: false });
    expect(joinText(await readChunks(whole))).toBe("Grüße 😀");
    expect(server.requests[1]?.url).toBe(`/model/${encodeURIComponent(claude)}/invoke`);
    expect(server.requests[1]?.headers.accept).toBe("application/json");
  });

  it("keeps the signatures of a history that began at Anthropic, and drops its server tools", async () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
    const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
    const citations = [
      { type: "web_search_result_location", url: "https://x.test", encrypted_index: "sealed" },
    ];
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "signed-1" },
      { type: "redacted_thinking", data: "redacted-1" },
      ...[search, found],
      { type: "text", text: "It is so.", citations },
      {
        type: "tool_use",
        id: "toolu_1",
        name: "look",
        input: {},
        caller: { type: "code_execution_20250825" },
      },
    ];
    const server = await start(() => ({ body: JSON.stringify({ ...claudeJson, content }) }));
    const options = { baseURL: server.url, stream: false, circuit: false as const };
    const source = anthropic({ model: "claude-haiku-4-5", apiKey: "key-1234567890", ...options });
    const first = defineAgent({ name: "a", model: source, tools: [look] });
    const { history } = await run(first, "Hi.", { store: memory(), policy: { maxTurns: 1 } });
    await readChunks(source, { ...shortRequest, history });
    await readChunks(create(options), { ...shortRequest, history });
    const [atAnthropic, atBedrock] = server.requests.slice(-2).map(({ body }) => body);
    const foreign = ["server_tool_use", "web_search_tool_result", "encrypted_index", "code_execution"];
    for (const text of [...foreign, "signed-1", "redacted-1", "It is so.", "look"]) {
      expect(atAnthropic).toContain(text);
      expect(atBedrock?.includes(text)).toBe(!foreign.includes(text));
    }
  });

  it.each([
    ["openai.gpt-oss-120b-1:0", {}, "/openai/v1/chat/completions"],
    ["us.openai.gpt-6-luna", { api: "responses" }, "/openai/v1/responses"],
    ["arn:aws:bedrock:us-east-1:1:application-inference-profile/x", { api: "anthropic" }, /\/invoke$/],
  ] as const)("for %s with %j goes to %s", async (model, options, path) => {
    const server = await start(answer);
    const chunks = await readChunks(create({ model, baseURL: server.url, stream: false, ...options }));
    expect(joinText(chunks)).toBe("Grüße 😀");
    expect(server.requests[0]?.url).toEqual(typeof path === "string" ? path : expect.stringMatching(path));
  });

  it("goes to the region of the options or the environment", async () => {
    const urls: string[] = [];
    const capture: typeof fetch = async (url) => {
      urls.push(String(url));
      return new Response(framed);
    };
    const call = async (region?: string) =>
      readChunks(bedrock({ model: claude, credentials: keys, fetch: capture, ...(region && { region }) }));
    await expect(call()).rejects.toMatchObject({
      code: "model_auth",
      message: "No region for Bedrock. Set AWS_REGION or AWS_DEFAULT_REGION, or pass `region`.",
    });
    vi.stubEnv("AWS_DEFAULT_REGION", "us-west-2");
    await call();
    vi.stubEnv("AWS_REGION", "eu-west-1");
    await call();
    await call("cn-north-1");
    await call("eusc-de-east-1");
    expect(urls.map((url) => new URL(url).host)).toEqual([
      "bedrock-runtime.us-west-2.amazonaws.com",
      "bedrock-runtime.eu-west-1.amazonaws.com",
      "bedrock-runtime.cn-north-1.amazonaws.com.cn",
      "bedrock-runtime.eusc-de-east-1.amazonaws.eu",
    ]);
  });

  it("with a named model has the limits of its API, and the prices of Bedrock", async () => {
    const warn = (name: string) =>
      getNamedModel(name)
        .checkSettings?.({ seed: 1 })
        .map(({ field }) => field);
    expect(warn(`bedrock/${claude}`)).toEqual(["seed"]);
    expect(warn("bedrock/openai.gpt-oss-120b-1:0")).toEqual([]);
    const usage = { type: "message_delta", delta: {}, usage: { input_tokens: 1_000_000, output_tokens: 0 } };
    const body = Buffer.concat([frameEvent(events[0] as string), frameEvent(JSON.stringify(usage)), framed]);
    const server = await start(() => ({ body }));
    const model = "global.anthropic.claude-haiku-4-5-20251001-v1:0";
    const chunks = await readChunks(create({ model, baseURL: server.url })).catch(() => []);
    expect(chunks.find(({ type }) => type === "usage")).toMatchObject({ usage: { cost: 1 } });
  });
});

describe("a streamed response of Bedrock", () => {
  const read = async (...frames: Uint8Array[]) => {
    const server = await start(() => ({ body: Buffer.concat(frames) }));
    return readChunks(create({ baseURL: server.url }));
  };
  const exception = (type: string, message = "No.") =>
    frame({ ":message-type": "exception", ":exception-type": type }, { message });

  it.each([
    ["throttlingException", "model_rate_limited", true],
    ["serviceUnavailableException", "model_overloaded", true],
    ["internalServerException", "model_overloaded", true],
    ["modelTimeoutException", "model_timeout", true],
    ["modelStreamErrorException", "model_failed", true],
    ["validationException", "model_rejected", false],
    ["somethingNewException", "model_failed", true],
  ])("that reports a %s fails as %s", async (type, code, retryable) => {
    const failure = expect.objectContaining({
      code,
      retryable,
      message: expect.stringContaining(`${type}: No.`),
    });
    await expect(read(frameEvent(events[0] as string), exception(type))).rejects.toEqual(failure);
  });

  it("that reports an input that is too long says so, and an unmodeled error its code", async () => {
    await expect(
      read(exception("validationException", "Input is too long for requested model.")),
    ).rejects.toMatchObject({ code: "context_overflow" });
    const error = { ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "Broken." };
    await expect(read(frame(error, {}))).rejects.toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("InternalFailure: Broken."),
    });
  });

  it("that is damaged, cut or unreadable is refused by name; other messages are skipped", async () => {
    const damaged = Uint8Array.from(framed);
    damaged[200] = (damaged[200] ?? 0) ^ 1;
    await expect(read(damaged)).rejects.toMatchObject({ code: "bad_chunk" });
    await expect(read(framed.subarray(0, -1))).rejects.toMatchObject({ code: "stream_truncated" });
    for (const body of [{}, { bytes: "%%%" }, { bytes: 1 }])
      await expect(read(frame(chunkHeaders, body))).rejects.toMatchObject({ code: "bad_chunk" });
    const other = frame({ ":message-type": "event", ":event-type": "initial-response" }, {});
    expect(joinText(await read(other, framed))).toBe("Grüße 😀");
  });
});

describe("AWS credentials", () => {
  /** The id of the key that signed each request. */
  const listKeyIds = ({ requests }: CloudServer) =>
    requests.map(({ headers }) => /Credential=(\w+)\//.exec(headers.authorization ?? "")?.[1]);

  it("are read from the environment, for every request", async () => {
    const server = await start(answer);
    const model = create({ credentials: undefined as never, baseURL: server.url });
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDONE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-one");
    vi.stubEnv("AWS_SESSION_TOKEN", "session-one");
    await readChunks(model);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDTWO");
    await readChunks(model);
    expect(listKeyIds(server)).toEqual(["AKIDONE", "AKIDTWO"]);
    expect(server.requests[0]?.headers["x-amz-security-token"]).toBe("session-one");
  });

  it("come from a profile, which wins over keys in the environment", async () => {
    const server = await start(answer);
    const profile = "[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = secret-of-profile\n";
    writeFileSync(process.env.AWS_SHARED_CREDENTIALS_FILE as string, profile);
    vi.stubEnv("AWS_PROFILE", "work");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-environment");
    const warn = vi.spyOn(console, "warn").mockReturnValue(); // AWS's library says that it ignores the variables
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url);
    await readChunks(getNamedModel(`bedrock/${claude}`));
    warn.mockRestore();
    expect(listKeyIds(server)).toEqual(["AKIDPROFILE"]);
  });

  it("of a container are shared, renewed before they expire, and once when they are refused", async () => {
    const clock = fakeClock({ start: Date.now() });
    const refused = new Set<string>();
    let issued = 0;
    const container = await start(() => {
      issued += 1;
      const body = {
        ...{ AccessKeyId: `ASIA${issued}`, SecretAccessKey: "secret-key", Token: `session-${issued}` },
        Expiration: new Date(clock.now() + 3_600_000).toISOString(),
      };
      return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    });
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${container.url}/keys`);
    const server = await start((request) =>
      refused.has(String(request.headers["x-amz-security-token"]))
        ? { status: 403, body: JSON.stringify({ message: "The security token is expired" }) }
        : answer(request),
    );
    const model = create({ credentials: undefined as never, baseURL: server.url, clock });
    await Promise.all([readChunks(model), readChunks(model)]);
    await clock.advance(3_600_000 - 60_000);
    await readChunks(model);
    expect(listKeyIds(server)).toEqual(["ASIA1", "ASIA1", "ASIA2"]);
    refused.add("session-2");
    await Promise.all([readChunks(model), readChunks(model)]);
    expect(listKeyIds(server).slice(3).sort()).toEqual(["ASIA2", "ASIA2", "ASIA3", "ASIA3"]);
    refused.add("session-3").add("session-4");
    await expect(readChunks(model)).rejects.toMatchObject({ code: "model_auth", retryable: false });
    expect(listKeyIds(server).slice(7)).toEqual(["ASIA3", "ASIA4"]);
    expect(issued).toBe(4);
  });

  it("may be a function, and are not quoted when they are refused", async () => {
    const server = await start(({ headers }) => ({
      status: 403,
      body: JSON.stringify({
        message: `The Canonical String should have been 'x-amz-security-token:${headers["x-amz-security-token"]} ${headers.authorization}'`,
      }),
    }));
    let calls = 0;
    const credentials = async () => {
      calls += 1;
      return keys;
    };
    const failure = await readChunks(create({ credentials, baseURL: server.url })).catch(
      (error: Error) => error,
    );
    expect(String(failure)).toContain("x-amz-security-token:***");
    for (const secret of Object.values(keys)) expect(String(failure)).not.toContain(secret);
    expect({ calls, requests: server.requests.length }).toEqual({ calls: 2, requests: 1 });
  });

  it("of one account that is throttled do not hold up another", async () => {
    const server = await start((request) =>
      request.headers.authorization?.includes(keys.accessKeyId) ? { status: 429 } : answer(request),
    );
    const options = { circuit: { failures: 1 }, baseURL: server.url };
    const call = (credentials: typeof keys) => readChunks(create({ ...options, credentials }));
    await expect(call(keys)).rejects.toMatchObject({ code: "model_rate_limited" });
    await expect(call(keys)).rejects.toMatchObject({ code: "model_overloaded" }); // no request is sent
    expect(joinText(await call({ ...keys, accessKeyId: "AKIDOTHER" }))).toBe("Grüße 😀");
    expect(server.requests).toHaveLength(2);
  });

  it("that cannot be found are named, with what to do", async () => {
    await expect(
      readChunks(create({ credentials: undefined as never, clock: fakeClock() })),
    ).rejects.toMatchObject({
      code: "model_auth",
      message: expect.stringMatching(
        /^Cannot get credentials from the credential chain of AWS \(\w+\)\. Set AWS_/,
      ),
    });
    vi.stubEnv("AWS_PROFILE", "missing");
    await expect(
      readChunks(create({ credentials: undefined as never, clock: fakeClock() })),
    ).rejects.toMatchObject({
      message: expect.stringContaining('from the AWS profile "missing"'),
    });
  });

  it("need optional packages, and their names are in the error without them", async () => {
    for (const name of ["aws4fetch", "@aws-sdk/credential-provider-node"]) {
      vi.resetModules();
      vi.doMock(name, () => {
        throw new Error("Cannot find package");
      });
      const fresh = await import("./bedrock.ts");
      const credentials = name === "aws4fetch" ? { credentials: keys } : {};
      await expect(
        readChunks(fresh.bedrock({ model: claude, region: "us-east-1", ...credentials })),
      ).rejects.toMatchObject({
        code: "model_auth",
        message: expect.stringContaining(`npm install ${name}`),
      });
      vi.doUnmock(name);
    }
  });

  it("may be an API key of Bedrock, which needs no signature", async () => {
    const server = await start(answer);
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-abc");
    await readChunks(create({ credentials: undefined as never, baseURL: server.url }));
    await readChunks(create({ credentials: undefined as never, baseURL: server.url, apiKey: "own-key" }));
    await readChunks(create({ baseURL: server.url }));
    expect(server.requests.map(({ headers }) => headers.authorization?.slice(0, 26))).toEqual([
      "Bearer bedrock-api-key-abc",
      "Bearer own-key",
      "AWS4-HMAC-SHA256 Credentia",
    ]);
  });
});
