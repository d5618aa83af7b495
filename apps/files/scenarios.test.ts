import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "@capstan/server";
import { type Agent, type Event, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, type Script, type ScriptedModel, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { files } from "./agent.ts";

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
  root = join(folder, "workspace");
  cpSync(join(import.meta.dirname, "sample"), root, { recursive: true });
  writeFileSync(join(folder, "secret"), "the canary sings");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function made(script: Script): Promise<{ agent: Agent; model: ScriptedModel }> {
  const model = scriptedModel(script);
  return { model, agent: await files({ model, root, studio: true }) };
}

const question = "What files are in the workspace and what's in sample.txt?";

const twoCalls = (split: ScriptedStep["split"] = 1): ScriptedStep[] => [
  {
    text: "Let me look.",
    calls: [
      { id: "call_a", name: "list_files", arguments: "" },
      { id: "call_b", name: "read_file", arguments: '{"path": "sample.txt", "lines": 1}' },
    ],
    ...(split !== undefined && { split }),
  },
  { text: "Three entries; the text welcomes you.", split: 9 },
];

/** What a card of a call goes through, and the words between. */
function shown(events: readonly Event[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "tool_call_start") return [`start ${event.id}`];
    if (event.type === "tool_call_result") return [`${event.is_error ? "error" : "result"} ${event.id}`];
    if (event.type === "content_delta") return ["delta"];
    return event.type === "done" ? ["done"] : [];
  });
}

describe("scenario: two calls in one answer", () => {
  it("are started and answered one after the other, then come the words, then the end (S1-06, S1-08, S1-11, S1-17)", async () => {
    const { agent, model } = await made(twoCalls());
    const { events, result } = await collect(run(agent, question, { store: memory() }));
    const cards = shown(events).filter((step) => step !== "delta");
    expect(cards).toEqual(["start call_a", "result call_a", "start call_b", "result call_b", "done"]);
    const words = Array.from({ length: 5 }, () => "delta");
    expect(shown(events).slice(-7)).toEqual(["result call_b", ...words, "done"]);
    expect(result.toolCalls.map(({ result: content }) => content)).toEqual([
      "data/\nexample.py\nsample.txt",
      expect.stringContaining("Welcome to the sample workspace."),
    ]);
    expect(model.requests[1]?.history.map(({ type }) => type)).toEqual([
      "user",
      "assistant",
      "result",
      "result",
    ]);
  });

  it("are the same wherever the stream was cut (S1-07, S1-09)", async () => {
    const whole = await collect(run((await made(twoCalls(undefined))).agent, question, { store: memory() }));
    const length = twoCalls()[0]?.calls?.[1]?.arguments?.length ?? 0;
    for (let at = 1; at < length; at++) {
      const cut = await collect(run((await made(twoCalls([at]))).agent, question, { store: memory() }));
      expect(cut.result.history, `cut at ${at}`).toEqual(whole.result.history);
    }
  });

  it("have the bytes of the golden file on the wire of the simple chat (S1-12, S1-13, S1-18, S1-23, S1-25)", async () => {
    const { agent } = await made(twoCalls([7]));
    const server = createServer({ agents: [agent] });
    try {
      const response = await server.fetch(
        new Request("http://127.0.0.1/api/chat", {
          method: "POST",
          headers: { host: "127.0.0.1", "content-type": "application/json" },
          body: JSON.stringify({ messages: [{ role: "user", content: question }] }),
        }),
      );
      const golden = readFileSync(join(import.meta.dirname, "fixtures", "chat.sse"));
      expect(await response.text()).toBe(golden.toString());
    } finally {
      await server.close(0);
    }
  });
});

describe("scenario: a search in all files", () => {
  it("gives path, line and text of each (S1-23)", async () => {
    const { agent } = await made([
      { calls: [{ name: "search_files", input: { query: "config" } }] },
      { text: "In two files." },
    ]);
    const { toolCalls, status } = await run(agent, "Search for config in all files", { store: memory() });
    expect(status).toBe("done");
    expect(String(toolCalls[0]?.result).split("\n")).toEqual([
      'example.py:4: def load_config(path="data/config.json"):',
      "example.py:11: config = load_config()",
      "example.py:12: return f\"{config['greeting']}, {name}!\"",
      "sample.txt:4: example.py greets people, and data/config.json says how.",
    ]);
  });
});

const before = "def greet(name):";
const after = `${before}\n    """Greets somebody by name."""`;
const documented: ScriptedStep[] = [
  { calls: [{ name: "read_file", input: { path: "example.py" } }] },
  {
    calls: [
      {
        id: "edit",
        name: "edit_file",
        input: { path: "example.py", edits: [{ find: before, replace: after }] },
      },
    ],
  },
  { text: "That is that." },
];
const inExample = (): string => readFileSync(join(root, "example.py"), "utf8");

describe("scenario: a docstring for greet", () => {
  it("is asked for, with what would change; agreed to, it is on disk, with a diff (S1-23)", async () => {
    const { agent } = await made(documented);
    const old = inExample();
    const running = run(agent, "Add a docstring to greet in example.py", { store: memory() });
    const asked = await running;
    expect(asked).toMatchObject({ status: "waiting", toolCalls: [{ name: "read_file", status: "ok" }] });
    expect(asked.pending).toMatchObject([
      {
        callId: "edit",
        name: "edit_file",
        needs: "approval",
        reason: expect.stringContaining('Changes the file "example.py".'),
        input: { path: "example.py", edits: [{ find: before, replace: after }] },
      },
    ]);
    expect(inExample()).toBe(old);
    running.approve("edit");
    const { facts, result } = await collect(running);
    expect(result.status).toBe("done");
    expect(inExample()).toBe(old.replace(before, after));
    const edited = facts.find((fact) => fact.type === "tool_call_result" && fact.id === "edit");
    expect(edited).toMatchObject({
      status: "ok",
      ui: {
        kind: "diff",
        props: { path: "example.py", diff: expect.stringContaining('+    """Greets somebody by name."""') },
      },
    });
  });

  it("is denied: the model is told why, and the file is as it was (S1-23)", async () => {
    const { agent, model } = await made(documented);
    const old = inExample();
    const running = run(agent, "Add a docstring to greet in example.py", { store: memory() });
    await running;
    running.deny("edit", "I will write it myself.");
    const result = await running;
    expect(result).toMatchObject({ status: "done", text: "That is that." });
    expect(result.toolCalls[1]).toMatchObject({ name: "edit_file", status: "denied" });
    expect(model.requests[2]?.history.at(-1)).toMatchObject({
      type: "result",
      status: "denied",
      content: expect.stringContaining("I will write it myself."),
    });
    expect(inExample()).toBe(old);
  });
});

describe("scenario: a file outside of the workspace", () => {
  it.each([
    "../secret",
    "data/../../secret",
    "/etc/hostname",
  ])("%s is an error that the model explains", async (path) => {
    const { agent, model } = await made([
      { calls: [{ id: "out", name: "read_file", input: { path } }] },
      { text: "That lies outside of the workspace, so I cannot read it." },
    ]);
    const { events, result } = await collect(run(agent, `Read ${path}`, { store: memory() }));
    expect(shown(events)).toEqual(["start out", "error out", "delta", "done"]);
    expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "error" }] });
    expect(result.text).toContain("outside of the workspace");
    const told = JSON.stringify([events, model.requests]);
    expect(told).not.toContain("canary");
    expect(told).toContain("leads out of the root");
  });
});

describe("scenario: arguments that are no JSON", () => {
  it("start, end with an error, and are said again; no card hangs (S1-28)", async () => {
    const { agent, model } = await made([
      { calls: [{ id: "bad", name: "read_file", arguments: '{"path": "sample.txt' }] },
      { calls: [{ id: "good", name: "read_file", input: { path: "sample.txt" } }] },
      { text: "It welcomes you." },
    ]);
    const { events, result } = await collect(run(agent, "What's in sample.txt?", { store: memory() }));
    expect(shown(events)).toEqual(["start bad", "error bad", "start good", "result good", "delta", "done"]);
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "ok"]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      type: "result",
      status: "error",
      content: expect.stringMatching(/JSON/),
    });
  });
});
