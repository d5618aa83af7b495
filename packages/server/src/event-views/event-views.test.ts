import { type Agent, AgentError, agentTool, defineAgent, defineTool, type Event, type Model } from "capstan";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { chatView } from "../protocols/chat/chat-events.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import type { EventView, ViewEvent } from "./event-view.ts";
import { createViewFormatter } from "./view-formatter.ts";

let server: TestServer;
afterEach(() => server.close(0));

/** Counts the calls of a run; a result is announced with two events. */
const steps: EventView = {
  description: "Calls by number",
  create() {
    let count = 0;
    return (event: Event): readonly ViewEvent[] => {
      if (event.type === "tool_call_start")
        return [{ event: "call", data: { number: ++count, name: event.name } }];
      if (event.type === "tool_call_result")
        return [
          { event: "result", data: { number: count } },
          { event: "progress", data: { percent: count * 10 } },
        ];
      return event.type === "done" && event.parentRunId === undefined
        ? [{ event: "end", data: { calls: count } }]
        : [];
    };
  },
};

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: {},
  effects: "none",
  execute: () => "Seen.",
});
const script: Script = [
  { text: "Let me look.", split: 4, calls: [{ name: "look" }] },
  { calls: [{ name: "look" }] },
  { text: "It is a café 🙂 by the sea.", split: 5 },
];

function serve(agent: Agent, options: Partial<ServerOptions> = {}): TestServer {
  server = createTestServer({ agents: [agent], eventViews: { steps }, ...options });
  return server;
}

const createLooker = (model: Model = scriptedModel(script)) =>
  defineAgent({ name: "looker", model, tools: [look] });

async function start(input = "Go", sessionId?: string): Promise<{ runId: string; sessionId: string }> {
  return (await server.send("POST", "/api/runs", { input, ...(sessionId && { sessionId }) })).json();
}

type Frame = { readonly id?: string; readonly event: string; readonly data: Record<string, unknown> };

function parseFrames(text: string): Frame[] {
  return text.split("\n\n").flatMap((frame) => {
    const [, id, event, data] = /^(?:id: (.*)\n)?event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
    if (event === undefined || data === undefined) return [];
    return [{ ...(id !== undefined && { id }), event, data: JSON.parse(data) }];
  });
}

const resumeAfter = (id?: string): Record<string, string> =>
  id === undefined ? {} : { "last-event-id": id };

async function read(path: string, id?: string): Promise<Frame[]> {
  const response = await server.send("GET", path, undefined, resumeAfter(id));
  expect(response.status, await response.clone().text()).toBe(200);
  return parseFrames(await response.text());
}

/** Reads frames until one matches, then disconnects. */
async function readUntil(path: string, isLast: (frame: Frame) => boolean, id?: string): Promise<Frame[]> {
  const response = await server.send("GET", path, undefined, resumeAfter(id));
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    const frames = parseFrames(text);
    const last = frames.findIndex(isLast);
    if (last >= 0) return frames.slice(0, last + 1);
  }
  return parseFrames(text);
}

const joinText = (frames: readonly Frame[]) => frames.map(({ data }) => data.delta ?? "").join("");

describe("a view of the events of a run", () => {
  it("has the names and the data of its projection, and an id on every event", async () => {
    serve(createLooker());
    const { runId } = await start();
    const frames = await read(`/api/runs/${runId}/events?events=steps`);
    expect(frames.map(({ event, data }) => ({ [event]: data }))).toEqual([
      { call: { number: 1, name: "look" } },
      { result: { number: 1 } },
      { progress: { percent: 10 } },
      { call: { number: 2, name: "look" } },
      { result: { number: 2 } },
      { progress: { percent: 20 } },
      { end: { calls: 2 } },
    ]);
    expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length);
  });

  it("continues after any of its events, each of which is sent once (F81)", async () => {
    serve(createLooker());
    const { runId } = await start();
    for (const view of ["steps", "chat"]) {
      const path = `/api/runs/${runId}/events?events=${view}`;
      const whole = await read(path);
      for (const [index, { id = "" }] of whole.entries())
        expect(await read(path, id), `${view} after ${id}`).toEqual(whole.slice(index + 1));
    }
  });

  it("is written to the debug log as it is sent, also in the default form (S1-19)", async () => {
    const lines: string[] = [];
    serve(createLooker(), { sseLog: (line) => lines.push(line) });
    const { runId } = await start();
    for (const query of ["?events=steps", ""]) {
      const frames = await read(`/api/runs/${runId}/events${query}`);
      const sent = frames.map(({ event, data }) => `event: ${event} | data: ${JSON.stringify(data)}`);
      expect(lines.splice(0)).toEqual(sent);
      expect(sent).not.toEqual([]);
    }
  });

  it("loses and repeats no text when its reader leaves in the middle of a message (S1-34)", async () => {
    const gate = Promise.withResolvers<void>();
    const model: Model = {
      id: "halting",
      async *stream() {
        yield [{ type: "text", text: "It is a " }];
        yield [{ type: "text", text: "café 🙂 " }];
        await gate.promise;
        yield [{ type: "text", text: "by the sea." }];
        yield [{ type: "finish", reason: "stop" }];
      },
    };
    serve(createLooker(model));
    const { runId } = await start();
    const path = `/api/runs/${runId}/events?events=chat`;
    const seen = await readUntil(path, ({ data }) => `${data.delta}`.includes("🙂"));
    const first = seen.slice(0, 1);
    expect(joinText(seen)).toBe("It is a café 🙂 ");
    // Back while the model still writes: the rest of the text so far, then the live text.
    const resumed = readUntil(path, ({ event }) => event === "done", first[0]?.id);
    gate.resolve();
    expect(joinText([...first, ...(await resumed)])).toBe("It is a café 🙂 by the sea.");
    // Back when the message is stored and its deltas are gone.
    expect(joinText([...seen, ...(await read(path, seen.at(-1)?.id))])).toBe("It is a café 🙂 by the sea.");
  });

  it("sends the rest of a text whose start its reader has, however the text is split (S1-34)", () => {
    const text = "It is a café by the sea.";
    for (const size of [1, 5, text.length]) {
      const format = createViewFormatter({ view: chatView, after: { seq: 2, characters: 8, frames: 0 } });
      const deltas = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const frames = deltas.map((delta) =>
        format({ type: "content_delta", delta, runId: "r", sessionId: "s", agent: "a", turn: 1 }),
      );
      expect(joinText(parseFrames(frames.join(""))), `${size}`).toBe("café by the sea.");
    }
  });

  it("continues in a session, where every run has its own projection", async () => {
    serve(createLooker(scriptedModel([...script, ...script])));
    const { runId, sessionId } = await start();
    await read(`/api/runs/${runId}/events`);
    await read(`/api/runs/${(await start("Again", sessionId)).runId}/events`);
    const path = `/api/sessions/${sessionId}/events?events=steps`;
    let ends = 0;
    const whole = await readUntil(path, ({ event }) => event === "end" && ++ends === 2);
    expect(whole.filter(({ event }) => event === "end").map(({ data }) => data)).toEqual([
      { calls: 2 },
      { calls: 2 },
    ]);
    for (const index of [3, 8, 9]) {
      let seen = index;
      const rest = await readUntil(path, () => ++seen === whole.length - 1, whole[index]?.id);
      expect(rest).toEqual(whole.slice(index + 1));
    }
  });

  it("also sees the events of nested runs", async () => {
    const tool = agentTool(createLooker(), { name: "ask", description: "Asks." });
    const model = scriptedModel([{ calls: [{ name: "ask", input: { prompt: "?" } }] }, { text: "Done." }]);
    serve(defineAgent({ name: "outer", model, tools: [tool] }));
    const { runId, sessionId } = await start();
    const frames = await read(`/api/runs/${runId}/events?events=steps`);
    expect(frames.at(-1)?.data).toEqual({ calls: 3 });
    // Back after an event of the nested run.
    const path = `/api/sessions/${sessionId}/events?events=steps`;
    const rest = await readUntil(path, ({ event }) => event === "end", frames[1]?.id);
    expect(rest).toEqual(frames.slice(2));
  });

  it("shows a user no internals of a failed run (C45)", async () => {
    const failures: EventView = {
      description: "Failures",
      create: () => (event) =>
        event.type === "done" ? [{ event: "failure", data: { ...event.error, text: event.text } }] : [],
    };
    const model = scriptedModel([{ error: new AgentError("model_auth", "The key sk-hunter2 was refused.") }]);
    serve(createLooker(model), { eventViews: { failures } });
    const { secret } = await server.keys.create({ user: "ada" });
    const headers = { authorization: `Bearer ${secret}` };
    const { runId } = await (await server.send("POST", "/api/runs", { input: "Go" }, headers)).json();
    const path = `/api/runs/${runId}/events?events=failures`;
    const text = await (await server.send("GET", path, undefined, headers)).text();
    expect(text).toContain("event: failure");
    expect(text).not.toContain("hunter2");
  });
});

describe("a chat in another view", () => {
  it("streams the view, with ids only where it can be continued", async () => {
    serve(createLooker(scriptedModel([...script, ...script])));
    const messages = [{ role: "user", content: "Go" }];
    const chat = async (body: object) =>
      parseFrames(await (await server.send("POST", "/api/chat?events=steps", { messages, ...body })).text());
    const ephemeral = await chat({});
    expect(ephemeral.at(-1)).toEqual({ event: "end", data: { calls: 2 } });
    const { id: sessionId } = await (await server.send("POST", "/api/sessions", {})).json();
    const stored = await chat({ sessionId });
    const { runs } = await (await server.send("GET", `/api/runs?sessionId=${sessionId}`)).json();
    const path = `/api/runs/${runs[0].runId}/events?events=steps`;
    expect(await read(path, stored[2]?.id)).toEqual(stored.slice(3));
    expect(stored.map(({ event, data }) => ({ event, data }))).toEqual(ephemeral);
  });
});

describe("the views of a server", () => {
  it("are listed, and named when another one is requested", async () => {
    serve(createLooker());
    const { eventViews } = await (await server.send("GET", "/api/about")).json();
    expect(eventViews).toEqual([
      { name: "chat", description: expect.stringContaining("chat") },
      { name: "steps", description: "Calls by number" },
    ]);
    const { runId, sessionId } = await start();
    for (const path of [
      `/api/runs/${runId}/events?events=stepps`,
      `/api/sessions/${sessionId}/events?events=constructor`,
    ]) {
      const response = await server.send("GET", path);
      expect(response.status).toBe(400);
      const { error } = await response.json();
      expect(error).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining('Available views: "chat", "steps".'),
      });
    }
    const messages = [{ role: "user", content: "Go" }];
    expect((await server.send("POST", "/api/chat?events=nothing", { messages })).status).toBe(400);
  });

  it("are streams: a client that accepts only JSON is told so", async () => {
    serve(createLooker());
    const { runId } = await start();
    const headers = { accept: "application/json" };
    const response = await server.send("GET", `/api/runs/${runId}/events?events=steps`, undefined, headers);
    expect(response.status).toBe(400);
  });

  it.each(["all", "chat", "a view", ""])("cannot be named %j", (name) => {
    serve(createLooker());
    expect(() => createTestServer({ agents: [createLooker()], eventViews: { [name]: steps } })).toThrow(
      expect.objectContaining({ code: "invalid_definition" }),
    );
  });
});
