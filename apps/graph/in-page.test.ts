import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { run } from "capstan";
import type { WebLlmEngine } from "capstan/models/web-llm";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { pets } from "./data/pets.ts";
import { graphInPage } from "./in-page.ts";

/**
 * An engine with the interface of WebLLM's and scripted answers: WebGPU and weights are not available here. It is a
 * string, so that it also runs where nothing of Node is.
 */
const engineSource = `(answers) => {
  const requests = [];
  const engine = {
    chat: { completions: { async create(request) {
      requests.push(request);
      const content = answers.shift() ?? "Done.";
      return (async function* () {
        yield { choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] };
        yield { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
      })();
    } } },
    interruptGenerate() {},
  };
  return { engine, requests };
}`;
type Requests = readonly { readonly messages: unknown }[];
const createEngine: (answers: string[]) => { engine: WebLlmEngine; requests: Requests } = new Script(
  engineSource,
).runInThisContext();

const findCats = 'TOOL_CALL: findNodes\nARGUMENTS: {"selector": "type == \'cat\'"}';
const graphs = { pets: () => pets };

describe("the graph explorer in a page (S2-38, S2-63)", () => {
  it("answers with a WebLLM engine alone", async () => {
    const { engine, requests } = createEngine([findCats, "Whiskers, Mittens and Shadow."]);
    const agent = await graphInPage({ graphs, webLlm: { engine, model: "tiny" } });
    const result = await run(agent, "Which cats are there?", { store: memory() });
    expect(result).toMatchObject({ status: "done", text: "Whiskers, Mittens and Shadow.", turns: 2 });
    expect(JSON.stringify(requests[1]?.messages)).toContain("Mittens");
  });

  it("leaves the request to another model, and the follow-up on the results to WebLLM", async () => {
    const { engine, requests } = createEngine(["There are three."]);
    const model = scriptedModel([{ calls: [{ name: "findNodes", input: { selector: "type == 'cat'" } }] }]);
    const agent = await graphInPage({ graphs, webLlm: { engine, model: "tiny" }, model });
    expect((await run(agent, "Which cats are there?", { store: memory() })).text).toBe("There are three.");
    expect([model.requests.length, requests.length]).toEqual([1, 1]);
  });

  it("needs nothing of Node: a bundle for browsers runs with browser globals only", async () => {
    const code = await bundle(`
      export { run } from "capstan";
      export { graphInPage } from "./in-page.ts";
      export { pets } from "./data/pets.ts";`);
    expect(code).not.toMatch(/["'`]node:|\brequire\(/);
    const page = createContext({ ...getWebGlobals() });
    new Script(code).runInContext(page);
    const program = `(async () => {
      const { engine } = (${engineSource})(${JSON.stringify([findCats, "Three cats."])});
      const agent = await app.graphInPage({ graphs: { pets: () => app.pets }, webLlm: { engine, model: "tiny" } });
      const { text, toolCalls } = await app.run(agent, "Which cats are there?");
      return JSON.stringify([text, toolCalls.map(({ name, status }) => [name, status])]);
    })()`;
    expect(JSON.parse(await new Script(program).runInContext(page))).toEqual([
      "Three cats.",
      [["findNodes", "ok"]],
    ]);
  });
});

async function bundle(entry: string): Promise<string> {
  const name = "\0page-entry";
  const build = await rolldown({
    input: name,
    platform: "browser",
    resolve: { conditionNames: ["capstan-source", "browser", "import", "default"] },
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (source, importer) => {
          if (source === name) return source;
          const isRelative = importer === name && source.startsWith(".");
          return isRelative ? fileURLToPath(new URL(source, import.meta.url)) : undefined;
        },
        load: (id) => (id === name ? entry : undefined),
      },
    ],
  });
  const { output } = await build.generate({ format: "iife", name: "app", codeSplitting: false });
  await build.close();
  expect(output).toHaveLength(1);
  return output[0].code;
}

/** Globals that every browser has. */
function getWebGlobals() {
  const { AbortController, AbortSignal, TextDecoder, TextEncoder, URL } = globalThis;
  const { atob, crypto, performance, structuredClone } = globalThis;
  return {
    ...{ AbortController, AbortSignal, TextDecoder, TextEncoder, URL },
    ...{ atob, crypto, performance, structuredClone },
    ...{ setTimeout, clearTimeout, setInterval, clearInterval },
  };
}
