import { AgentError, defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { type Admission, type AdmissionOptions, createAdmission, createDelayMeter } from "./admission.ts";

const idle: AdmissionOptions = {
  maxRuns: 100,
  countRuns: () => 0,
  countStreams: () => 0,
  measureMemory: () => 0,
  delayMeter: { read: () => 0, close: () => undefined },
};

function findRefusal({ assertCapacity }: Admission): AgentError | undefined {
  try {
    assertCapacity();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
    throw thrown;
  }
}
const isRefused = (admission: Admission) => findRefusal(admission) !== undefined;

describe("work is refused", () => {
  it("while the event loop is delayed, until the delay has halved", () => {
    let delayMs = 90;
    const delayMeter = { read: () => delayMs, close: () => undefined };
    const admission = createAdmission({ ...idle, countRuns: () => 40, delayMeter, maxDelayMs: 100 });
    const decisions = [90, 110, 60, 49, 60, 110].map((ms) => {
      delayMs = ms;
      return isRefused(admission);
    });
    expect(decisions).toEqual([false, true, true, false, false, true]);
    expect(admission.getFigures()).toMatchObject({ admitted: 3, refused: [["delay", 3]] });
  });

  it("not because of a delay that its runs cannot have caused", () => {
    const delayMeter = { read: () => 10_000, close: () => undefined };
    expect(isRefused(createAdmission({ ...idle, countRuns: () => 3, delayMeter }))).toBe(false);
  });

  it.each([
    ["runs", { countRuns: () => 100 }],
    ["streams", { countStreams: () => 20, maxStreams: 20 }],
    ["memory", { measureMemory: () => 0.95 }],
  ])("at the limit of %s", (reason, load) => {
    const admission = createAdmission({ ...idle, ...load });
    expect(findRefusal(admission)?.code).toBe("overloaded");
    expect(admission.getFigures().refused).toEqual([[reason, 1]]);
  });

  it("while too many requests are being answered", () => {
    const admission = createAdmission({ ...idle, maxRequests: 2 });
    const ends = [1, 2, 3].map(() => admission.addRequest());
    expect(isRefused(admission)).toBe(true);
    ends[0]?.end();
    expect(isRefused(admission)).toBe(false);
    expect(admission.getFigures()).toMatchObject({ requests: 2, refused: [["requests", 1]] });
  });

  it("with different times to come back, so that clients do not return together", () => {
    const admission = createAdmission({ ...idle, maxRuns: 0 });
    const waits = Array.from({ length: 200 }, () => findRefusal(admission)?.retryAfterMs ?? 0);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
    expect(new Set(waits.map((ms) => Math.min(4, Math.floor(ms / 1000)))).size).toBe(4);
  });
});

it("a limit that is no number is rejected when the server is created", () => {
  expect(() => createAdmission({ ...idle, maxDelayMs: Number.NaN })).toThrow("Invalid maxDelayMs");
  expect(() => createAdmission({ ...idle, maxStreams: -1 })).toThrow("Invalid maxStreams");
});

describe("the delay of the event loop", () => {
  afterEach(() => vi.restoreAllMocks());

  it("counts while it lasts, and is smoothed", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const meter = createDelayMeter();
    expect(meter.read()).toBe(0);
    now = 550; // the sample was due at 50
    expect(meter.read()).toBe(100);
    await vi.waitFor(() => {
      now += 1;
      expect(meter.read()).toBeLessThan(100); // later samples are on time
    });
    meter.close();
  });
});

describe("a server without capacity", () => {
  let server: TestServer;
  afterEach(() => server.close(0));

  it("refuses work before it reads the body, checks the key, or asks the store (F83)", async () => {
    const inner = memory();
    const calls: unknown[] = [];
    const store = new Proxy(inner, {
      get(target, name) {
        calls.push(name);
        return Reflect.get(target, name);
      },
    }) as Store;
    const agents = [createHelloAgent()];
    const quiet = { leaseMs: 3_600_000 };
    server = createTestServer({
      ...quiet,
      agents,
      store,
      memoryInUse: () => 0.95,
      apiKey: "canary-key-0123456789",
    });
    await vi.waitFor(() => expect(calls).toContain("listRecords")); // the engine has looked for runs
    calls.length = 0;
    const request = new Request("http://127.0.0.1/api/runs", {
      method: "POST",
      headers: { host: "127.0.0.1", "content-type": "application/json", authorization: "Bearer wrong" },
      body: "not JSON",
    });
    const response = await server.fetch(request);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toMatch(/^[1-5]$/);
    expect(request.bodyUsed).toBe(false);
    expect(calls).toEqual([]);
  });

  it("still answers health checks, readers, cancel requests and approvals (F83)", async () => {
    let isFull = false;
    const model = scriptedModel(({ history }) =>
      history.length > 1 ? { text: "Paid." } : { calls: [{ name: "pay" }] },
    );
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: {},
      needsApproval: "It costs money.",
      execute: () => "paid",
    });
    const hanging = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
    server = createTestServer({
      agents: [
        defineAgent({ name: "clerk", model, tools: [pay], policy: { gate: "off" } }),
        defineAgent({ name: "sleeper", model: hanging }),
      ],
      memoryInUse: () => (isFull ? 1 : 0),
    });
    const start = async (agent: string) =>
      (await (await server.send("POST", "/api/runs", { input: "Go", agent })).json()).runId as string;
    const [paying, sleeping] = [await start("clerk"), await start("sleeper")];
    const getRun = async (id: string) => (await server.send("GET", `/api/runs/${id}`)).json();
    await vi.waitFor(async () => expect((await getRun(paying)).state).toBe("waiting"));

    isFull = true;
    expect((await server.send("POST", "/api/runs", { input: "Go" })).status).toBe(503);
    for (const path of ["/healthz", "/readyz", "/api/health"])
      expect((await server.send("GET", path)).status, path).toBe(200);
    expect((await server.send("POST", `/api/runs/${sleeping}/cancel`, {})).status).toBe(202);
    const { pending } = await getRun(paying);
    const approval = { approved: true, digest: pending[0].digest };
    const answer = await server.send("POST", `/api/runs/${paying}/approvals/${pending[0].callId}`, approval);
    expect(answer.status).toBe(202);
    expect(await (await server.send("GET", `/api/runs/${paying}/events`)).text()).toContain('"text":"Paid."');
    expect(await (await server.send("GET", `/api/runs/${sleeping}/events`)).text()).toContain("cancelled");
  });
});
