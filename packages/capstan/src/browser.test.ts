import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { type OutputChunk, rolldown } from "rolldown";
import { describe, expect, it } from "vitest";

/** Bundles an entry point with its dependencies into one script for browsers. */
async function bundle(entry: string): Promise<OutputChunk> {
  const build = await rolldown({
    input: fileURLToPath(new URL(entry, import.meta.url)),
    platform: "browser",
    resolve: { conditionNames: ["capstan-source", "browser", "import", "default"] },
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "iife", name: "capstan", codeSplitting: false });
  await build.close();
  expect(output).toHaveLength(1);
  return output[0];
}

/** Globals that every browser and worker has; nothing from Node. */
const { AbortController, AbortSignal, TextDecoder, TextEncoder, URL } = globalThis;
const { atob, crypto, performance, structuredClone } = globalThis;
const web = {
  ...{ AbortController, AbortSignal, TextDecoder, TextEncoder, URL },
  ...{ atob, crypto, performance, structuredClone },
};
const timers = { setTimeout, clearTimeout, setInterval, clearInterval };

describe("in a browser", () => {
  it.each([
    "./index.ts",
    "./client/index.ts",
    "./stores/memory.ts",
    "./sessions/index.ts",
    "./models/from-generate.ts",
  ])("%s needs no Node modules and no external imports", async (entry) => {
    const { code, imports, dynamicImports, fileName } = await bundle(entry);
    expect(new Set([...imports, ...dynamicImports, fileName])).toEqual(new Set([fileName]));
    expect(code).not.toMatch(/["'`]node:|\brequire\(/);
    expect(code.length).toBeGreaterThan(500);
  });

  it("the client stays small, because it is loaded on every page: it has nothing of the loop", async () => {
    const { moduleIds, code } = await bundle("./client/index.ts");
    expect(
      moduleIds
        .filter((id) => /\/src\/(?!client\/)/.test(id))
        .map((id) => id.split("/").at(-1))
        .sort(),
    ).toEqual([
      ...["approval-scope.ts", "clock.ts", "errors.ts", "escape-text.ts"],
      ...["event.ts", "history.ts", "json.ts", "lazy.ts", "usage.ts"],
    ]);
    expect(code.length).toBeLessThan(85_000);
  });

  it("a run with tools works with browser globals only", async () => {
    const { code } = await bundle("./index.ts");
    const page = createContext({ ...web, ...timers });
    new Script(code).runInContext(page);
    const program = `
      const { defineAgent, defineTool, fromGenerate, run } = capstan;
      const add = defineTool({
        name: "add",
        description: "Adds",
        input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
        needsApproval: true,
        execute: ({ a, b }) => a + b,
      });
      const model = fromGenerate((messages) => {
        const result = messages.findLast((entry) => entry.type === "result");
        return result ? { text: "It is " + result.content + "." } : { toolCalls: [{ name: "add", args: { a: 2, b: 2 } }] };
      });
      (async () => {
        const started = run(defineAgent({ name: "a", model, tools: [add] }), "2+2?");
        const types = [];
        for await (const event of started) {
          types.push(event.type);
          if (event.type === "approval_required") started.approve(event.callId);
        }
        const { status, text } = await started;
        return JSON.stringify({ status, text, last: types.at(-1), node: typeof process + typeof Buffer });
      })()`;
    const outcome = await (new Script(program).runInContext(page) as Promise<string>);
    expect(JSON.parse(outcome)).toEqual({
      status: "done",
      text: "It is 4.",
      last: "done",
      node: "undefinedundefined",
    });
  });
});
