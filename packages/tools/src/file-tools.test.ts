import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, run } from "capstan";
import { collect, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileTools } from "./file-tools.ts";
import { createTemporaryRoot, type TemporaryRoot } from "./files/testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const agent = (steps: ScriptedStep[], options: object = {}) =>
  defineAgent({
    name: "files",
    model: scriptedModel(steps),
    tools: fileTools({ root: place.path, ...options }),
  });
const createCallSteps = (name: string, input: { [key: string]: string }): ScriptedStep[] => [
  { calls: [{ name, input }] },
  { text: "Done." },
];

describe("the file tools", () => {
  it("are five, three with `readOnly`, or six with `undo` (S1-23)", () => {
    const names = (options: object = {}) =>
      fileTools({ root: place.path, ...options }).map(({ name }) => name);
    expect(names()).toEqual(["read_file", "list_files", "search_files", "write_file", "edit_file"]);
    expect(names({ readOnly: true })).toEqual(["read_file", "list_files", "search_files"]);
    expect(names({ undo: { folder: place.outside } })).toEqual([...names(), "undo_change"]);
  });

  it("declare their reads and changes: files are private, and untrusted in an external root (A101)", () => {
    const labels = (options: object = {}) =>
      fileTools({ root: place.path, ...options }).map(({ name, effects, reads }) => [name, effects, reads]);
    expect(labels()).toEqual([
      ["read_file", "none", ["private"]],
      ["list_files", "none", ["private"]],
      ["search_files", "none", ["private"]],
      ["write_file", "state", ["private"]],
      ["edit_file", "state", ["private"]],
    ]);
    expect(labels({ provenance: "external" }).slice(0, 3)).toEqual([
      ["read_file", "none", ["private", "untrusted"]],
      ["list_files", "none", ["private", "untrusted"]],
      ["search_files", "none", ["private", "untrusted"]],
    ]);
  });

  it("read in a run (S1-23)", async () => {
    place.put("notes.txt", "buy milk");
    const result = await run(agent(createCallSteps("read_file", { path: "notes.txt" })), "What do I need?");
    expect(result.toolCalls).toMatchObject([{ name: "read_file", status: "ok", result: "buy milk" }]);
  });

  it("write only after approval, and then show the diff (S1-23)", async () => {
    const waiting = run(
      agent(createCallSteps("write_file", { path: "a.txt", content: "hello\n" })),
      "Write it.",
    );
    const { pending } = await waiting;
    expect(pending).toMatchObject([
      { name: "write_file", reason: 'Creates the file "a.txt": files are changed only with your approval.' },
    ]);
    expect(readdirSync(place.path)).toEqual([]);
    const { facts, result } = await collect(waiting.approve(pending[0]?.callId ?? ""));
    expect(result.status).toBe("done");
    expect(facts.find((fact) => fact.type === "tool_call_result")).toMatchObject({
      ui: { kind: "diff", props: { path: "a.txt", diff: expect.stringContaining("+hello") } },
    });
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("hello\n");
  });

  it("do not write when the user denied it", async () => {
    const waiting = run(
      agent(createCallSteps("write_file", { path: "a.txt", content: "evil" })),
      "Write it.",
    );
    const { pending } = await waiting;
    await waiting.deny(pending[0]?.callId ?? "", "No.");
    expect(readdirSync(place.path)).toEqual([]);
  });

  it("refuse a path at once, without asking for approval (A34, A40)", async () => {
    for (const path of ["../outside/x", ".git/hooks/pre-commit"]) {
      const result = await run(agent(createCallSteps("write_file", { path, content: "evil" })), "Write it.");
      expect(result.status).toBe("done");
      expect(result.history.find((entry) => entry.type === "result")).toMatchObject({
        status: "error",
        error: { code: "security" },
      });
      expect(result.toolCalls).toMatchObject([{ attempts: 1 }]);
    }
    expect(readdirSync(place.path)).toEqual([]);
  });

  it("return results that the runtime does not truncate again", async () => {
    place.put("a.txt", `${"x".repeat(99)}\n`.repeat(290));
    const result = await run(agent(createCallSteps("read_file", { path: "a.txt" })), "Read it.");
    expect(result.toolCalls[0]?.result).toHaveLength(29_000);
  });

  it("refuse unknown options", () => {
    for (const options of [
      { readonly: true },
      { limits: { line: 1 } },
      { limits: { lines: "all" } },
      { undo: { folder: ".", changes: 1 } },
    ])
      expect(() => fileTools({ root: place.path, ...(options as object) })).toThrow(
        expect.objectContaining({ code: "invalid_definition" }),
      );
  });

  it("start no process and open no connection (A45)", () => {
    const files = globSync("{file-tools,files/*}.ts", { cwd: import.meta.dirname });
    const sources = files.filter((file) => !file.endsWith(".test.ts"));
    expect(sources.length).toBeGreaterThan(10);
    for (const file of sources) {
      const text = readFileSync(join(import.meta.dirname, file), "utf8");
      expect(text).not.toMatch(
        /child_process|node:(?:net|http|https|tls|dgram|vm|worker_threads)|undici|fetch\(/,
      );
    }
  });
});
