import { defineAgent } from "capstan";
import { createClient } from "capstan/client";
import { createSchedulesClient, type ScheduleView } from "capstan/client/schedules";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function serve(options: Partial<Parameters<typeof createTestServer>[0]> = {}): TestServer {
  const model = scriptedModel(() => ({ text: "Done." }));
  const agents = [defineAgent({ name: "helper", model })];
  const server = createTestServer({ agents, store: memory(), ...options });
  opened.push({ close: () => server.close(0) });
  return server;
}

async function add(
  server: TestServer,
  body: object,
  key?: string,
): Promise<{ status: number; body: ScheduleView }> {
  const headers = key === undefined ? {} : { "idempotency-key": key };
  const answer = await server.send("POST", "/api/schedules", body, headers);
  return { status: answer.status, body: await answer.json() };
}

const rootKey = "root-key-of-this-test";
const tomorrow = { input: "Water the plants", when: "tomorrow at 9", timeZone: "Europe/Oslo" };

describe("schedules over HTTP", () => {
  it("are added in words, listed, paused, resumed, run now and removed", async () => {
    const server = serve();
    const options = {
      baseURL: "http://127.0.0.1",
      fetch: (url: string, init: RequestInit) => server.fetch(new Request(url, init)),
    };
    const client = { ...createClient(options), schedules: createSchedulesClient(options) };
    const made = await client.schedules.add({ ...tomorrow, when: "every day at 9" });
    expect(made).toMatchObject({
      agent: "helper",
      text: "Water the plants",
      times: "every day at 9 (Europe/Oslo)",
    });
    expect(made.next).toHaveLength(3);
    expect(await client.schedules.list()).toMatchObject([{ id: made.id, state: "active" }]);
    expect((await client.schedules.pause(made.id)).next).toEqual([]);
    expect((await client.schedules.resume(made.id)).next).toEqual(made.next);
    const { runId } = await client.schedules.run(made.id);
    await vi.waitFor(async () => expect((await client.runs.get(runId)).state).toBe("ended"), {
      timeout: 30_000,
    });
    expect((await client.schedules.get(made.id)).runs).toMatchObject([{ runId, isManual: true }]);
    await client.schedules.remove(made.id);
    expect(await client.schedules.list()).toEqual([]);
  });

  it("start their runs when they are due", async () => {
    const server = serve();
    const { body } = await add(server, { input: "Now", when: "in 1 second" });
    const load = async (): Promise<ScheduleView> =>
      (await server.send("GET", `/api/schedules/${body.id}`)).json();
    await vi.waitFor(async () => expect(await load()).toMatchObject({ state: "ended", runs: [{}] }), {
      timeout: 30_000,
    });
  });

  it("with the same Idempotency-Key are added once, also if their words mean another time by then", async () => {
    const server = serve();
    const request = { input: "Tea", when: "in 20 minutes" };
    const first = await add(server, request, "key");
    const second = await add(server, request, "key");
    expect(second.body.next).toEqual(first.body.next);
    expect((await add(server, { ...request, input: "Coffee" }, "key")).status).toBe(409);
  });

  it.each([
    [{ ...tomorrow, when: "whenever" }, 400, /is not understood/],
    [{ ...tomorrow, when: "2020-01-01T09:00" }, 400, /is over/],
    [
      { ...tomorrow, when: "every 5 seconds" },
      400,
      /every 5 seconds\. At most one run every minute is allowed/,
    ],
    [{ ...tomorrow, timeZone: "Mars/Olympus" }, 400, /Unknown time zone/],
    [{ ...tomorrow, agent: "nobody" }, 404, /nobody/],
    [{ ...tomorrow, sessionId: "missing" }, 404, /Session not found/],
    [{ ...tomorrow, cron: "* * * * *" }, 400, /cron/],
  ])("that are invalid are refused with the reason: %j", async (body, status, message) => {
    const answer = await serve().send("POST", "/api/schedules", body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(await answer.json())).toMatch(message);
  });

  it("of another user cannot be seen or changed, and are as if they did not exist (A84, A141)", async () => {
    const store = memory();
    const server = serve({ store, apiKey: rootKey });
    const { secret: ann } = await server.keys.create({ user: "ann" });
    const { secret: bob } = await server.keys.create({ user: "bob" });
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const made = await (await server.send("POST", "/api/schedules", tomorrow, as(ann))).json();
    expect(made.id).toMatch(/^ann~/);
    const list = async (key: string) =>
      (await (await server.send("GET", "/api/schedules", undefined, as(key))).json()).schedules;
    expect(await list(bob)).toEqual([]);
    expect(await list(rootKey)).toEqual([]);
    const attempts = [
      ["GET", ""],
      ["POST", "/pause"],
      ["POST", "/resume"],
      ["POST", "/run"],
      ["DELETE", ""],
    ] as const;
    for (const [method, action] of attempts) {
      const theirs = await server.send(method, `/api/schedules/${made.id}${action}`, undefined, as(bob));
      const none = await server.send(method, `/api/schedules/bob~none${action}`, undefined, as(bob));
      expect([theirs.status, none.status]).toEqual([404, 404]);
    }
    const session = await (await server.send("POST", "/api/sessions", {}, as(ann))).json();
    const inSession = { ...tomorrow, sessionId: session.id ?? session.sessionId };
    expect((await server.send("POST", "/api/schedules", inSession, as(bob))).status).toBe(404);
    expect(await list(ann)).toMatchObject([{ id: made.id, state: "active", runs: [] }]);
  });

  it("start runs within the quotas of their user, and say so otherwise (A141)", async () => {
    const server = serve({ quotas: { default: { runs: { day: 1 } } } });
    const { body } = await add(server, { input: "Now", when: "every 1 minute" });
    await server.send("POST", `/api/schedules/${body.id}/run`);
    const refused = await server.send("POST", `/api/schedules/${body.id}/run`);
    expect(refused.status).toBe(429);
  });

  it("beyond a hundred per user are refused (A141)", async () => {
    const server = serve();
    const statuses: number[] = [];
    for (let count = 0; count < 102; count++) statuses.push((await add(server, tomorrow)).status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.at(-1)).toBe(429);
  });
});
