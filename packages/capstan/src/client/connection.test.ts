import { describe, expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { type Client, type ClientOptions, createClient } from "./create-client.ts";

type Sent = { readonly method: string; readonly url: string; readonly key: string | null };
type Answers = readonly (Response | Error | "never")[];

/** A client whose requests are answered in turn; the last answer is for all that follow. */
function createTestConnection(
  answers: Answers,
  options: ClientOptions = {},
): { client: Client; sent: Sent[]; clock: ReturnType<typeof fakeClock> } {
  const sent: Sent[] = [];
  const clock = fakeClock({ skipUpToMs: 20_000 });
  const client = createClient({
    baseURL: "http://127.0.0.1:1/",
    clock,
    fetch: async (url, { method = "GET", headers }) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)];
      sent.push({ method, url, key: new Headers(headers).get("idempotency-key") });
      if (answer === "never" || !answer) return new Promise(() => undefined);
      if (answer instanceof Error) throw answer;
      return answer.clone();
    },
    ...options,
  });
  return { client, sent, clock };
}

const cut = new TypeError("fetch failed");
const started = Response.json({ runId: "r", sessionId: "s" }, { status: 201 });
const createErrorResponse = (status: number, error: object, headers = {}) =>
  Response.json({ error }, { status, headers });
const busy = createErrorResponse(503, { code: "overloaded", message: "No room.", retryable: true });
const gateway = new Response("<h1>Bad gateway</h1>", { status: 502 });

describe("a request", () => {
  it("that starts a run is retried with the same key when its response is lost (F84, C43)", async () => {
    const { client, sent } = createTestConnection([cut, gateway, busy, started]);
    expect(await client.runs.start({ input: "Hi" })).toEqual({ runId: "r", sessionId: "s" });
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(sent[0]?.key).toMatch(/^[\da-f]{32}$/);
    await client.runs.start({ input: "Hi" });
    expect(sent[4]?.key).not.toBe(sent[0]?.key);
    await client.runs.start({ input: "Hi", key: "mine" });
    expect(sent[5]?.key).toBe("mine");
  });

  it("that is not idempotent is retried only when it was refused", async () => {
    const data = { format: 1, name: "a" } as const;
    const lost = createTestConnection([cut, started]);
    await expect(lost.client.agents.save(data, 0)).rejects.toMatchObject({ code: "server_unreachable" });
    expect(lost.sent).toHaveLength(1);
    const refused = createTestConnection([busy, Response.json({ name: "a" })]);
    await refused.client.agents.save(data, 0);
    expect(refused.sent).toHaveLength(2);
  });

  it("that deletes succeeds when an earlier attempt already did", async () => {
    const gone = createErrorResponse(404, {
      code: "not_found",
      message: "Session not found.",
      retryable: false,
    });
    await createTestConnection([cut, gone]).client.sessions.remove("s");
    await expect(createTestConnection([gone]).client.sessions.remove("s")).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("is retried a limited number of times and respects a short retry-after", async () => {
    const away = createTestConnection([cut]);
    await expect(away.client.runs.list()).rejects.toMatchObject({
      code: "server_unreachable",
      retryable: true,
      message: expect.stringContaining("http://127.0.0.1:1 "),
    });
    expect(away.sent).toHaveLength(5);
    const once = createTestConnection([cut], { retries: 0 });
    await expect(once.client.runs.list()).rejects.toMatchObject({ code: "server_unreachable" });
    expect(once.sent).toHaveLength(1);

    const limited = { code: "rate_limited", message: "Too many.", retryable: true };
    const soon = createTestConnection([
      createErrorResponse(429, limited, { "retry-after": "7" }),
      Response.json({ runs: [] }),
    ]);
    const before = soon.clock.now();
    expect(await soon.client.runs.list()).toEqual([]);
    expect(soon.clock.now() - before).toBeGreaterThanOrEqual(7000);
    const tomorrow = createTestConnection([
      createErrorResponse(429, { ...limited, retryAfterMs: 3_600_000 }),
    ]);
    await expect(tomorrow.client.runs.list()).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 3_600_000,
    });
    expect(tomorrow.sent).toHaveLength(1);
  });

  it("fails with the server's error, and detects other servers", async () => {
    const refused = createErrorResponse(409, {
      code: "session_busy",
      message: "It is busy.",
      retryable: true,
    });
    await expect(createTestConnection([refused]).client.runs.start({ input: "Hi" })).rejects.toMatchObject({
      name: "AgentError",
      code: "session_busy",
      message: "It is busy.",
      retryable: true,
    });
    const inside = { code: "internal", message: "Something went wrong.", retryable: true, id: "err_1" };
    await expect(
      createTestConnection([createErrorResponse(500, inside)]).client.runs.get("r"),
    ).rejects.toThrow("wrong. (err_1)");
    const unknown = createErrorResponse(418, { code: "teapot", message: "Short and stout." });
    await expect(createTestConnection([unknown]).client.runs.get("r")).rejects.toMatchObject({
      code: "server_unreachable",
      retryable: false,
    });
    await expect(createTestConnection([new Response("<html>")]).client.runs.get("r")).rejects.toThrow(
      "with JSON",
    );
  });

  it("fails when it times out or is aborted", async () => {
    const late = createTestConnection(["never"], { timeoutMs: 1000, retries: 1 });
    await expect(late.client.runs.list()).rejects.toMatchObject({ code: "server_unreachable" });
    expect(late.sent).toHaveLength(2);
    const stop = new AbortController();
    const aborted = createTestConnection(["never"]).client.runs.start(
      { input: "Hi" },
      { signal: stop.signal },
    );
    stop.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
  });

  it("sends the client's key and escapes ids", async () => {
    const seen: [string, string | null][] = [];
    const client = createClient({
      key: "k",
      fetch: async (url, { headers }) => {
        seen.push([url, new Headers(headers).get("authorization")]);
        return Response.json({});
      },
    });
    await client.runs.get("../a?b/c");
    await client.sessions.search("a b&c", { most: 3 });
    expect(seen).toEqual([
      ["/api/runs/..%2Fa%3Fb%2Fc", "Bearer k"],
      ["/api/sessions?search=a+b%26c&most=3", "Bearer k"],
    ]);
  });

  it("reports a draining server", async () => {
    const leaving = Response.json({ status: "draining" }, { status: 503 });
    expect(await createTestConnection([leaving]).client.health()).toEqual({ status: "draining" });
  });
});
