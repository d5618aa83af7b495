import { defineAgent, defineTool, type RunSummary } from "capstan";
import { createClient } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  execute: () => "A red door",
});

let server: TestServer;
beforeEach(() => {
  const usage = { inputTokens: 10, outputTokens: 5, cost: 0.25 };
  const model = scriptedModel(({ history }) => {
    const text = JSON.stringify(history.at(-1));
    if (text.includes("break")) return { error: "model_auth" as const };
    return text.includes("Please look") ? { calls: [{ name: "look" }], usage } : { text: "Done.", usage };
  });
  server = createTestServer({
    agents: ["guide", "clerk"].map((name) => defineAgent({ name, model, tools: [look] })),
    store: memory(),
    apiKey: "local-key-0123456789",
  });
});
afterEach(() => server.close(0));

const admin = { authorization: "Bearer local-key-0123456789" };
type Headers = Readonly<Record<string, string>>;

async function signIn(user: string): Promise<Headers> {
  return { authorization: `Bearer ${(await server.keys.create({ user })).secret}` };
}

/** Runs to the end and returns the id. */
async function runToEnd(headers: Headers, body: object): Promise<string> {
  const started = await server.send("POST", "/api/runs", body, headers);
  expect(started.status).toBe(201);
  const { runId } = (await started.json()) as { runId: string };
  await (await server.send("GET", `/api/runs/${runId}/events`, undefined, headers)).text();
  return runId;
}

async function get<Body>(path: string, headers: Headers = admin): Promise<Body> {
  const response = await server.send("GET", path, undefined, headers);
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}
const list = async (query = "", headers: Headers = admin) =>
  (await get<{ runs: readonly RunSummary[] }>(`/api/runs?${query}`, headers)).runs;

describe("the runs of a server", () => {
  it("are listed with what they cost, filtered, sorted and paged", async () => {
    const first = await runToEnd(admin, { input: "Please look\nand tell.", agent: "guide", tags: ["prod"] });
    const second = await runToEnd(admin, { input: "Hello there", agent: "clerk" });
    const third = await runToEnd(admin, { input: "break it", agent: "clerk", tags: ["prod", "beta"] });
    expect((await list()).map(({ runId }) => runId)).toEqual([third, second, first]);
    expect((await list("tool=look"))[0]).toMatchObject({
      ...{ runId: first, agent: "guide", state: "ended", status: "done", stopReason: "end", user: "" },
      ...{ turns: 2, toolCalls: 1, tools: ["look"], cost: 0.5, tags: ["prod"], title: "Please look" },
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    for (const [query, expected] of [
      ["status=failed", [third]],
      ["error=model_auth", [third]],
      ["agent=clerk&order=asc", [second, third]],
      ["tag=prod&sort=cost", [first, third]],
      ["minCost=0.5", [first]],
      ["q=hello", [second]],
      ["q=red%20door", [first]],
      ["sort=turns&limit=1", [first]],
      ["from=1&to=2", []],
      ["feedback=up", []],
    ] as const)
      expect([query, (await list(query)).map(({ runId }) => runId)]).toEqual([query, expected]);
    const page = await get<{ next: string }>("/api/runs?limit=2");
    expect((await list(`limit=2&cursor=${page.next}`)).map(({ runId }) => runId)).toEqual([first]);
  });

  it("are refused with a name for wrong queries", async () => {
    for (const query of ["sort=title", "limit=0", "minCost=much", "cursor=x", "status=good", "other=1"]) {
      const response = await server.send("GET", `/api/runs?${query}`, undefined, admin);
      expect([query, response.status]).toEqual([query, 400]);
      expect(await response.json()).toMatchObject({ error: { code: "invalid_input" } });
    }
    for (const tags of [[""], ["x".repeat(101)], Array.from({ length: 21 }, String), ["a\nb"], "prod"]) {
      const response = await server.send("POST", "/api/runs", { input: "Hi", tags }, admin);
      expect(await response.json()).toMatchObject({ error: { code: "invalid_input" } });
    }
  });

  it("are only those of the caller, and all of them for an admin (A95)", async () => {
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    const mine = await runToEnd(ada, { input: "Canary of Ada" });
    await runToEnd(bob, { input: "Words of Bob" });
    expect((await list("", ada)).map(({ runId }) => runId)).toEqual([mine]);
    expect(await list("q=words", ada)).toEqual([]);
    expect((await get<{ total: object }>("/api/runs/stats", ada)).total).toMatchObject({ runs: 1 });
    expect(await list()).toEqual([]);
    expect(await list("user=*")).toHaveLength(2);
    expect((await list("user=ada")).map(({ runId, user }) => [runId, user])).toEqual([[mine, "ada"]]);
    for (const path of ["/api/runs?user=ada", "/api/runs/stats?user=*", "/api/runs?user=*&format=csv"])
      expect((await server.send("GET", path, undefined, bob)).status).toBe(403);
    const csv = await (await server.send("GET", "/api/runs?format=csv", undefined, bob)).text();
    expect(csv).not.toContain("Canary");
    const stolen = await server.send("POST", `/api/runs/${mine}/feedback`, { rating: "down" }, bob);
    expect(stolen.status).toBe(404);
    expect((await list("", ada))[0]).not.toHaveProperty("feedback");
  });

  it("are added up by time, agent, model and tool", async () => {
    await runToEnd(admin, { input: "Please look", agent: "guide" });
    await runToEnd(admin, { input: "break it", agent: "clerk" });
    const stats = await get<Record<string, unknown>>("/api/runs/stats?bucket=3600000");
    expect(stats).toMatchObject({
      total: { runs: 2, failed: 1, cost: 0.5, tokens: 30 },
      agents: [
        { name: "guide", runs: 1, failed: 0, cost: 0.5 },
        { name: "clerk", runs: 1, failed: 1, cost: 0 },
      ],
      tools: [{ name: "look", runs: 1 }],
    });
    expect(stats.buckets).not.toEqual([]);
  });

  it("of a session have their summaries, and keep the fields of an earlier version", async () => {
    const runId = await runToEnd(admin, { input: "Hello there" });
    const [run] = await list();
    const [listed, ...others] = await list(`sessionId=${run?.sessionId}`);
    expect(listed).toEqual(run);
    expect(others).toEqual([]);
    expect(await list("most=1")).toMatchObject([{ runId }]);
  });
});

describe("an export of runs", () => {
  it("as CSV quotes what needs it and neutralizes formulas, and has every match", async () => {
    for (const input of ['=HYPERLINK("http://evil")', "  +1, 2", 'Say "hi", now', "plain"])
      await runToEnd(admin, { input, tags: ["a", "@b"] });
    const response = await server.send("GET", "/api/runs?order=asc", undefined, {
      ...admin,
      accept: "text/csv",
    });
    expect(response.headers.get("content-type")).toContain("text/csv");
    expect(response.headers.get("content-disposition")).toContain("runs.csv");
    const lines = (await response.text()).split("\r\n");
    expect(lines[0]).toMatch(/^run,session,user,agent,.*,title,rating,note,correction$/);
    expect(lines).toHaveLength(6);
    const titles = lines.slice(1, 5).map((line) => line.split("a; @b,")[1]);
    expect(titles).toEqual([
      `"'=HYPERLINK(""http://evil"")",,,`,
      `"'+1, 2",,,`,
      `"Say ""hi"", now",,,`,
      "plain,,,",
    ]);
  });

  it("as JSON has the same runs as the list, also none", async () => {
    expect(await get("/api/runs?format=json")).toEqual([]);
    for (const input of ["one", "two"]) await runToEnd(admin, { input });
    expect(await get("/api/runs?format=json")).toEqual(await list());
    expect(await get("/api/runs?format=json&q=two")).toHaveLength(1);
  });
});

describe("feedback", () => {
  it("of an application with a key is stored with its run, replaced and removed", async () => {
    const ada = await signIn("ada");
    const runId = await runToEnd(ada, { input: "Hello" });
    const client = createClient({
      baseURL: "http://127.0.0.1",
      key: ada.authorization?.replace("Bearer ", "") ?? "",
      fetch: (input, init) => server.fetch(new Request(input, init)),
    });
    const given = { rating: "down", note: "Too short", correction: "Hello, Ada." } as const;
    expect(await client.sendFeedback(runId, given)).toMatchObject({ ...given, by: "ada" });
    const { runs } = await client.listRuns({ feedback: "down" });
    expect(runs).toMatchObject([{ runId, feedback: { ...given, by: "ada", at: expect.any(Number) } }]);
    await client.sendFeedback(runId, { rating: "up" });
    expect((await client.listRuns({ feedback: "up" })).runs[0]?.feedback).not.toHaveProperty("note");
    expect(await client.sendFeedback(runId, {})).toBeUndefined();
    expect((await client.listRuns({ feedback: "none" })).runs).toHaveLength(1);
    expect((await client.summarizeRuns({ bucket: 1_000 })).total.runs).toBe(1);
  });

  it("is refused for a run that does not exist, and if it is too long or has other fields", async () => {
    const runId = await runToEnd(admin, { input: "Hello" });
    const send = async (id: string, body: object) =>
      (await server.send("POST", `/api/runs/${id}/feedback`, body, admin)).status;
    expect(await send("nobody", { rating: "up" })).toBe(404);
    for (const body of [{ rating: "meh" }, { note: "x".repeat(10_001) }, { stars: 5 }])
      expect(await send(runId, body)).toBe(400);
  });
});
