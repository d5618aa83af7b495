import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuth2Client } from "google-auth-library";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type CloudServer, joinText, readChunks, startCloud } from "../testing/cloud-server.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { modelSuite } from "../testing/model-suite.ts";
import { anthropicEncoder, geminiEncoder } from "../testing/wire-encoders.ts";
import { getNamedModel } from "./named-model.ts";
import { type VertexOptions, vertex } from "./vertex.ts";

const token = async () => "ya29.token";

modelSuite("vertex (gemini)", geminiEncoder, (baseURL) => vertex({ model: "gemini-test", baseURL, token }));
modelSuite("vertex (claude)", anthropicEncoder, (baseURL) =>
  vertex({ model: "claude-test", baseURL, token }),
);

const geminiJson = { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] };
const claudeJson = { type: "message", content: [{ type: "text", text: "ok" }], stop_reason: "end_turn" };
const claudeStream = [
  { type: "message_start", message: { id: "m", content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "ok" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" } },
  { type: "message_stop" },
];
const geminiUrl = "/publishers/google/models/";

function answer(url: string): string {
  if (url.includes("streamRawPredict"))
    return claudeStream.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  if (url.includes("alt=sse")) return `data: ${JSON.stringify(geminiJson)}\n\n`;
  return JSON.stringify(url.includes(geminiUrl) ? geminiJson : claudeJson);
}

type Sent = { readonly url: string; readonly headers: Headers; readonly body: Record<string, unknown> };

/** Returns the request of a client whose `fetch` is replaced. */
async function capture(options: VertexOptions): Promise<Sent> {
  let sent: Sent | undefined;
  const model = vertex({
    fetch: async (url, init) => {
      sent = { url: String(url), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) };
      return new Response(answer(String(url)));
    },
    ...options,
  });
  expect(joinText(await readChunks(model))).toBe("ok");
  return sent as Sent;
}

const variables = [
  ...[
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_ACCESS_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
  ],
];
const servers: CloudServer[] = [];
const folders: string[] = [];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.doUnmock("google-auth-library");
  vi.resetModules();
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe("a request to Vertex", () => {
  const project = { project: "my-project", location: "europe-west4", token };
  const base = "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4";

  it("for Gemini is Gemini's, with the model in the URL", async () => {
    const sent = await capture({ model: "gemini-3.5-flash", ...project });
    expect(sent.url).toBe(`${base}/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse`);
    expect(sent.headers.get("authorization")).toBe("Bearer ya29.token");
    expect(sent.body).toHaveProperty("contents");
    const whole = await capture({ model: "gemini-3.5-flash", ...project, stream: false });
    expect(whole.url).toBe(`${base}/publishers/google/models/gemini-3.5-flash:generateContent`);
  });

  it("for Claude is Anthropic's, with the version in the body and the model in the URL only", async () => {
    const sent = await capture({ model: "claude-haiku-4-5@20251001", ...project });
    expect(sent.url).toBe(`${base}/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict`);
    expect(sent.body).toMatchObject({
      anthropic_version: "vertex-2023-10-16",
      stream: true,
      max_tokens: 64_000,
      messages: [{ role: "user" }],
    });
    expect(sent.body).not.toHaveProperty("model");
    expect(sent.headers.has("anthropic-version")).toBe(false);
    const whole = await capture({ model: "claude-haiku-4-5", ...project, stream: false });
    expect(whole.url).toBe(`${base}/publishers/anthropic/models/claude-haiku-4-5:rawPredict`);
    expect(whole.body).not.toHaveProperty("stream");
  });

  it.each([
    ["global", "aiplatform.googleapis.com"],
    ["us", "aiplatform.us.rep.googleapis.com"],
    ["us-east5", "us-east5-aiplatform.googleapis.com"],
  ])("in the location %s goes to %s", async (location, host) => {
    const { url } = await capture({ model: "gemini-x", project: "p", location, token });
    expect(url).toContain(`https://${host}/v1/projects/p/locations/${location}/`);
  });

  it("reads project, location and token from the environment, the token for every request", async () => {
    for (const name of variables) vi.stubEnv(name, "");
    await expect(readChunks(vertex({ model: "gemini-x" }))).rejects.toMatchObject({
      code: "model_auth",
      message: "No project for Vertex. Set GOOGLE_CLOUD_PROJECT, or pass `project`.",
    });
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "from-env");
    vi.stubEnv("GOOGLE_ACCESS_TOKEN", "ya29.one");
    const { url, headers } = await capture({ model: "gemini-x" });
    expect(url).toContain("https://aiplatform.googleapis.com/v1/projects/from-env/locations/global/");
    expect(headers.get("authorization")).toBe("Bearer ya29.one");
    vi.stubEnv("GOOGLE_ACCESS_TOKEN", "ya29.two");
    expect((await capture({ model: "gemini-x" })).headers.get("authorization")).toBe("Bearer ya29.two");
  });

  it("with a named model uses the API of the model's publisher", () => {
    const warn = (name: string) =>
      getNamedModel(name)
        .checkSettings?.({ seed: 1 })
        .map(({ field }) => field);
    expect(warn("vertex/claude-haiku-4-5")).toEqual(["seed"]);
    expect(warn("vertex/gemini-3.5-flash")).toEqual([]);
  });
});

/** Google's own library exchanges a workload's token at a loopback server, instead of Google's. */
async function startTokenService() {
  const folder = mkdtempSync(join(tmpdir(), "capstan-adc-"));
  folders.push(folder);
  const state = { issued: 0, isBroken: false };
  const server = await startCloud(({ url }) => {
    if (url !== "/token") return { body: answer(url) };
    if (state.isBroken)
      return { status: 400, body: '{"error":"invalid_grant","error_description":"secret-word"}' };
    state.issued += 1;
    return {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        access_token: `ya29.issued-${state.issued}`,
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        token_type: "Bearer",
        expires_in: 3600 * state.issued, // each lives longer than the one before
      }),
    };
  });
  servers.push(server);
  writeFileSync(join(folder, "subject"), "subject-token");
  const credentials = {
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${server.url}/token`,
    credential_source: { file: join(folder, "subject") },
    quota_project_id: "who-pays",
  };
  const file = join(folder, "credentials.json");
  writeFileSync(file, JSON.stringify(credentials));
  vi.stubEnv("GOOGLE_ACCESS_TOKEN", "");
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
  return state;
}

describe("Google's credentials", () => {
  it("are the application-default ones, whose token all clients share", async () => {
    const state = await startTokenService();
    const options = { project: "p", location: "global" };
    const requests = await Promise.all(
      ["gemini-x", "claude-x", "gemini-x"].map((model) => capture({ model, ...options })),
    );
    requests.push(await capture({ model: "gemini-y", ...options }));
    for (const { headers } of requests) {
      expect(headers.get("authorization")).toBe("Bearer ya29.issued-1");
      expect(headers.get("x-goog-user-project")).toBe("who-pays");
    }
    expect(state.issued).toBe(1);
  });

  it("are renewed shortly before they expire, and once when they are refused", async () => {
    const state = await startTokenService();
    const clock = fakeClock({ start: Date.now() });
    const refused = new Set<string>();
    const sent: string[] = [];
    const model = vertex({
      ...{ model: "gemini-x", project: "p", clock, circuit: false as const },
      fetch: async (url, init) => {
        const authorization = new Headers(init?.headers).get("authorization") ?? "";
        sent.push(authorization.slice(-1));
        return refused.has(authorization)
          ? new Response("The token has expired.", { status: 401 })
          : new Response(answer(String(url)));
      },
    });
    await readChunks(model);
    await readChunks(model);
    await clock.advance(3_600_000 - 60_000);
    await readChunks(model);
    expect(sent.splice(0)).toEqual(["1", "1", "2"]);
    refused.add("Bearer ya29.issued-2");
    await Promise.all([readChunks(model), readChunks(model)]);
    expect(sent.splice(0).sort()).toEqual(["2", "2", "3", "3"]);
    refused.add("Bearer ya29.issued-3").add("Bearer ya29.issued-4");
    await expect(readChunks(model)).rejects.toMatchObject({ code: "model_auth" });
    expect(sent).toEqual(["3", "4"]);
    expect(state.issued).toBe(4);
  });

  it("that cannot be loaded are named, with what to do, and without their content", async () => {
    const state = await startTokenService();
    state.isBroken = true;
    const fail = async (options: object) => {
      const model = vertex({ model: "gemini-x", project: "p", clock: fakeClock(), ...options });
      const failure = await readChunks(model).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: "model_auth", retryable: false });
      expect(String(failure)).not.toMatch(/secret-word|subject-token/);
      return String(failure);
    };
    expect(await fail({})).toMatch(
      /Cannot get credentials from Google's application-default credentials \(\w+\)\. Run `gcloud auth application-default login`/,
    );
    const credentials = { getRequestHeaders: () => Promise.reject(new RangeError("secret-word")) };
    expect(await fail({ credentials })).toContain("Cannot get credentials from `credentials` (RangeError).");
  });

  it("may be a client of Google's library", async () => {
    const credentials = new OAuth2Client();
    credentials.setCredentials({ access_token: "ya29.own", expiry_date: Date.now() + 3_600_000 });
    const { headers } = await capture({ model: "gemini-x", project: "p", credentials });
    expect(headers.get("authorization")).toBe("Bearer ya29.own");
  });

  it("need Google's library, and its name is in the error without it", async () => {
    vi.stubEnv("GOOGLE_ACCESS_TOKEN", "");
    vi.resetModules();
    vi.doMock("google-auth-library", () => {
      throw new Error("Cannot find package");
    });
    const fresh = await import("./vertex.ts");
    await expect(readChunks(fresh.vertex({ model: "gemini-x", project: "p" }))).rejects.toMatchObject({
      code: "model_auth",
      message: expect.stringContaining("npm install google-auth-library"),
    });
  });
});
