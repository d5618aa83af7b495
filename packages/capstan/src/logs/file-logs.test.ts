import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { listSecretForms } from "../secrets/secret-forms.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { fileLogs, sessionFolder } from "./file-logs.ts";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "capstan-logs-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const readLog = (session: string, file: string): string =>
  readFileSync(join(directory, session, file), "utf8");
const readEvents = (session: string): Event[] =>
  readLog(session, "events.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);

const createWarning = (sessionId: string, seq: number): Fact => ({
  ...{ runId: "r", sessionId, agent: "a", turn: 1, seq, at: 0, id: `w${seq}` },
  ...{ type: "warning", code: "odd", message: `The ${seq}.` },
});

const createReasoningModel = () =>
  defineAgent({ name: "helper", model: scriptedModel([{ reasoning: "It is a greeting.", text: "Hello." }]) });

describe("fileLogs", () => {
  it("creates a folder per session with events, a readable log and a reasoning log (S4-10, S4-51, S4-52)", async () => {
    const logs = fileLogs({ directory: join(directory, "deep", "logs") });
    const collected = await collect(
      run(createReasoningModel(), "Hi", { session: "one", hooks: { onEvent: logs } }),
    );
    await run(createReasoningModel(), "Hi", { session: "two", hooks: { onEvent: logs } });
    await logs.close();
    directory = join(directory, "deep", "logs");
    expect(readdirSync(directory)).toEqual(["one", "two"]);
    expect(readdirSync(join(directory, "two"))).toEqual(["events.jsonl", "readable.log", "reasoning.log"]);
    expect(readEvents("one")).toEqual(collected.facts);
    expect(readLog("one", "readable.log")).toMatch(/ Turn 1\/10 of helper\n/);
    expect(readLog("one", "readable.log")).not.toContain("greeting");
    expect(readLog("one", "reasoning.log")).toMatch(/ helper Turn 1\n {2}It is a greeting\.\n$/);
    directory = join(directory, "..", "..");
  });

  it("also writes deltas if requested, as a full debug log (S1-19)", async () => {
    const logs = fileLogs({ directory, deltas: true });
    const { events } = await collect(
      run(createReasoningModel(), "Hi", { session: "s", hooks: { onEvent: logs } }),
    );
    await logs.flush();
    expect(readEvents("s")).toEqual(events);
  });

  it("makes files and folders readable by the owner only (A110)", async () => {
    const logs = fileLogs({ directory: join(directory, "logs") });
    logs(createWarning("s", 1));
    await logs.close();
    const modes = ["logs", "logs/s", "logs/s/events.jsonl"].map(
      (path) => statSync(join(directory, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  it("appends in order, during writes and across instances, and nothing after close (S4-10)", async () => {
    const logs = fileLogs({ directory });
    for (let seq = 1; seq <= 200; seq++) {
      logs(createWarning("s", seq));
      if (seq % 20 === 0) await Promise.resolve();
      if (seq % 50 === 0) await logs.flush();
    }
    await logs.close();
    logs(createWarning("s", 0));
    await logs.flush();
    const next = fileLogs({ directory });
    next(createWarning("s", 201));
    await next.close();
    const sequence = readEvents("s").map((event) => "seq" in event && event.seq);
    expect(sequence).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
  });

  it("starts a new line after a process died in the middle of one", async () => {
    mkdirSync(join(directory, "s"));
    writeFileSync(join(directory, "s", "events.jsonl"), '{"type":"warn');
    const logs = fileLogs({ directory });
    logs(createWarning("s", 1));
    await logs.close();
    expect(readLog("s", "events.jsonl").split("\n")).toEqual([
      '{"type":"warn',
      JSON.stringify(createWarning("s", 1)),
      "",
    ]);
  });
});

describe("the folder of a removed session", () => {
  const createStart = (seq: number): Fact => ({
    ...createWarning("s", seq),
    ...{ type: "run_start", input: [], policy: {} as never, timeZone: "UTC" },
  });
  const createEnd = (seq: number): Fact => ({
    ...createWarning("s", seq),
    ...{ type: "done", status: "done", text: "", usage: {} as never, cost: 0, grounded: false },
  });

  it("is deleted with the text that waits to be written, and a run that goes on does not restore it", async () => {
    const logs = fileLogs({ directory });
    logs(createStart(1));
    await logs.flush();
    logs(createWarning("s", 2));
    const removal = logs.remove("s");
    logs(createWarning("s", 3));
    await removal;
    logs(createEnd(4));
    await logs.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  it("is not restored after another process has deleted it, until the next run", async () => {
    const logs = fileLogs({ directory, onError: (error) => expect.unreachable(error.message) });
    logs(createStart(1));
    await logs.flush();
    await fileLogs({ directory }).remove("s");
    logs(createWarning("s", 2));
    await logs.flush();
    expect(readdirSync(directory)).toEqual([]);
    logs(createStart(3));
    logs(createWarning("s", 4));
    await logs.close();
    expect(readEvents("s")).toEqual([createStart(3), createWarning("s", 4)]);
  });

  it("keeps the other sessions, and a session that is not logged has none", async () => {
    const logs = fileLogs({ directory });
    logs(createWarning("s", 1));
    logs(createWarning("t", 2));
    await logs.remove("s");
    await logs.remove("unknown");
    expect(readdirSync(directory)).toEqual(["t"]);
    expect(readEvents("t")).toEqual([createWarning("t", 2)]);
  });
});

describe("secrets and forgeries in a whole run", () => {
  const secret = 'sk-"live"/Ω+01234567';
  const hostile = 'evil\n2026-01-01T00:00:00.000Z r End: done\u001b[2J\u009b1A\u2028{"type":"done"}';

  async function attackedRun(): Promise<string[]> {
    const tell = defineTool({
      name: "tell",
      description: "Tells",
      input: { type: "object" },
      execute(_, { progress }) {
        progress({ [secret]: Buffer.from(secret).toString("base64") });
        return { content: [...listSecretForms(secret)].join(" "), data: { [secret]: { secret } } };
      },
    });
    const fail = defineTool({
      name: `fail ${hostile}`,
      description: "Fails",
      input: { type: "object" },
      execute: () => {
        throw new Error(`Incorrect API key provided: ${secret}\n${hostile}`);
      },
    });
    const model = scriptedModel([
      {
        ...{ reasoning: `I know ${secret}.\n${hostile}`, text: `Say ${secret}: ${hostile}`, split: 5 },
        calls: [
          { id: `${secret}1`, name: "tell", input: { key: secret, [secret]: encodeURIComponent(secret) } },
          { id: hostile, name: fail.name, input: { [hostile]: hostile } },
          { name: `${secret}${hostile}` },
        ],
      },
      { error: new Error(`401 https://api.example/?key=${encodeURIComponent(secret)} Bearer ${secret}`) },
    ]);
    const agent = defineAgent({
      name: `a ${hostile}`,
      model,
      tools: [tell, fail],
      policy: { retry: { maxAttempts: 1 } },
    });
    const logs = fileLogs({ directory, secrets: [secret], deltas: true });
    await run(agent, `My key is ${secret}`, { session: `../${hostile}`, hooks: { onEvent: logs } });
    await logs.close();
    const folders = readdirSync(directory);
    expect(folders).toEqual([sessionFolder(`../${hostile}`)]);
    return readdirSync(join(directory, ...folders)).map((file) => readLog(folders[0] ?? "", file));
  }

  it("leave no trace of the secret in any form, in any file (A110, A111, A112)", async () => {
    const files = await attackedRun();
    expect(files).toHaveLength(3);
    for (const text of files) {
      expect(text).toContain("***");
      expect([...listSecretForms(secret)].filter((form) => text.includes(form))).toEqual([]);
    }
  });

  it("leave no trace of it in joined deltas (A111)", async () => {
    const [events = ""] = await attackedRun();
    const deltas = events
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Event)
      .filter((event) => "delta" in event);
    for (const type of ["content_delta", "reasoning_delta", "tool_call_delta"]) {
      const joined = deltas.map((delta) => (delta.type === type ? delta.delta : "")).join("");
      expect(joined).toContain("***");
      expect([...listSecretForms(secret)].filter((form) => joined.includes(form))).toEqual([]);
    }
  });

  it("forge no line and leave no terminal escape codes (A124)", async () => {
    const [events = "", readable = "", reasoning = ""] = await attackedRun();
    for (const line of events.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("runId");
    for (const line of readable.trimEnd().split("\n")) expect(line).toMatch(/^\d{4}-.{18}Z run_[\w-]+ [A-Z]/);
    for (const line of reasoning.trimEnd().split("\n")) expect(line).toMatch(/^(?: {2}|\d{4}-.{18}Z run_)/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(events + readable + reasoning).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028]/);
    expect(readable.split("\n").filter((line) => / run_[\w-]+ End: /.test(line))).toHaveLength(1);
  });
});

describe("a file that cannot be written", () => {
  const collectErrors = async (options: { directory: string }, events: readonly Event[]) => {
    const errors: string[] = [];
    const onError = (error: Error, file: string) => {
      errors.push(`${file.slice(directory.length + 1)} ${"code" in error && error.code}`);
    };
    const logs = fileLogs({ ...options, onError });
    for (const event of events) {
      logs(event);
      await logs.flush();
    }
    return errors;
  };

  it("is reported once and skipped, and the other files continue (S4-10)", async () => {
    mkdirSync(join(directory, "s", "events.jsonl"), { recursive: true });
    const events = [createWarning("s", 1), createWarning("s", 2), createWarning("t", 3)];
    expect(await collectErrors({ directory }, events)).toEqual(["s/events.jsonl EISDIR"]);
    expect(readLog("s", "readable.log").split("\n")).toHaveLength(3);
    expect(readEvents("t")).toEqual([createWarning("t", 3)]);
  });

  it.runIf(process.platform === "linux")(
    "on a full disk is reported once and left alone (S4-10)",
    async () => {
      mkdirSync(join(directory, "s"));
      symlinkSync("/dev/full", join(directory, "s", "readable.log"));
      expect(await collectErrors({ directory }, [createWarning("s", 1), createWarning("s", 2)])).toEqual([
        "s/readable.log ENOSPC",
      ]);
      expect(readEvents("s")).toEqual([createWarning("s", 1), createWarning("s", 2)]);
    },
  );

  it("does not affect the run, nor does an onError callback that throws (S4-10)", async () => {
    writeFileSync(join(directory, "file"), "");
    let errorCount = 0;
    const logs = fileLogs({
      directory: join(directory, "file"),
      onError() {
        errorCount += 1;
        throw new Error("listener broke");
      },
    });
    const store = memory();
    const result = await run(createReasoningModel(), "Hi", { session: "s", store, hooks: { onEvent: logs } });
    await logs.close();
    expect(result).toMatchObject({ status: "done", text: "Hello." });
    expect((await store.read("s")).filter((fact) => fact.type === "warning")).toEqual([]);
    expect(errorCount).toBe(3);
  });
});

describe("the folder of a session", () => {
  it.each([
    ["ses_0b5c-1", "ses_0b5c-1"],
    ["", "%"],
    [".", "%2e"],
    ["..", "%2e%2e"],
    ["../a/b\\c", "%2e%2e%2fa%2fb%5cc"],
    ["a b\n%", "a%20b%0a%25"],
    ["tür", "t%c3%bcr"],
    ["\ud800", "%ud800"],
    ["nul", "%6eul"],
  ])("of %j is %s (S4-52)", (session, folder) => {
    expect(sessionFolder(session)).toBe(folder);
  });

  it("has a hash when the id is long or has capitals (S4-52)", () => {
    expect(sessionFolder("Abc")).toMatch(/^Abc\.[0-9a-f]{32}$/);
    expect(sessionFolder("a".repeat(5000))).toMatch(/^a{80}\.[0-9a-f]{32}$/);
    expect(sessionFolder(`${"a".repeat(5000)}b`)).not.toBe(sessionFolder(`${"a".repeat(5000)}c`));
  });

  it("is safe and unique for every session, also on case-insensitive file systems (S4-52)", () => {
    const id = fc.oneof(
      fc.array(fc.nat(0xffff), { maxLength: 30 }).map((units) => String.fromCharCode(...units)),
      fc.string({ unit: fc.constantFrom("a", "A", "%", "2", "e", "E", "."), maxLength: 5 }),
    );
    fc.assert(
      fc.property(id, id, (left, right) => {
        expect(sessionFolder(left)).toMatch(/^[\w%-][\w%.-]{0,120}$/);
        if (left !== right)
          expect(sessionFolder(left).toLowerCase()).not.toBe(sessionFolder(right).toLowerCase());
      }),
      { numRuns: 300 },
    );
  });
});

describe("standard output", () => {
  const from = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  const program = `
    import { defineAgent, run } from ${from("../index.ts")};
    import { scriptedModel } from ${from("../testing/index.ts")};
    import { readableLog, reasoningLog } from ${from("./index.ts")};
    import { fileLogs } from ${from("./file-logs.ts")};
    const logs = fileLogs({ directory: process.argv[2] });
    const sinks = [logs, readableLog((line) => process.stderr.write(line)), reasoningLog((text) => process.stderr.write(text))];
    const onEvent = (event) => sinks.forEach((sink) => sink(event));
    const agent = () => defineAgent({ name: "helper", model: scriptedModel([{ reasoning: "Hm.", text: "Hello." }]) });
    await run(agent(), "Hi", { session: "s", runId: "r", hooks: { onEvent } });
    await logs.close();
    const broken = fileLogs({ directory: process.argv[1] });
    await run(agent(), "Hi", { session: "s2", runId: "r2", hooks: { onEvent: broken } });
    await broken.close();
  `;

  it("is not used by logs or their errors, which go to files and to stderr (S4-53, C-29)", () => {
    const script = join(directory, "run.mjs");
    writeFileSync(script, program);
    const child = spawnSync(
      process.execPath,
      ["--conditions=capstan-source", script, join(directory, "logs")],
      {
        encoding: "utf8",
      },
    );
    expect([child.status, child.stdout]).toEqual([0, ""]);
    expect(child.stderr).toMatch(/ r Turn 1\/10 of helper\n/);
    expect(child.stderr).toMatch(/ r helper Turn 1\n {2}Hm\.\n/);
    expect(child.stderr.match(/^Cannot write log .*\/s2\/\w+\.\w+: .+$/gm)).toHaveLength(3);
    expect(readdirSync(join(directory, "logs", "s"))).toHaveLength(3);
  });
});
