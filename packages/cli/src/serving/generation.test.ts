import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { scratchProject } from "../testing/cli-process.ts";
import { openGeneration } from "./generation.ts";

const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
export default defineConfig({
  agents: [defineAgent({ name: "desk", model: offline() }), defineAgent({ name: "cook", model: offline() })],
  about: { desk: { title: "Front desk", description: "Knows the house", suggestions: ["When is breakfast?"] } },
});
`;

it("agents are introduced as the configuration says", async () => {
  const project = scratchProject({ "capstan.config.ts": config });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  const generation = await openGeneration({ flags: { trust: true }, io });
  try {
    const request = new Request("http://127.0.0.1/api/about", { headers: { host: "127.0.0.1" } });
    const { agents } = await (await generation.server.fetch(request)).json();
    expect(agents).toEqual([
      {
        ...{ name: "desk", title: "Front desk", description: "Knows the house" },
        suggestions: ["When is breakfast?"],
      },
      { name: "cook" },
    ]);
  } finally {
    await generation.close(0);
    project.remove();
  }
});

it("what a configuration has opened itself is closed with what was made from it, once", async () => {
  const closing = `export default { agents: [], close: () => process.emit("capstan-test-closed") };`;
  const project = scratchProject({ "capstan.config.mjs": closing });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  let closed = 0;
  const count = () => closed++;
  process.on("capstan-test-closed" as never, count);
  try {
    const generation = await openGeneration({ flags: { trust: true }, io });
    expect(closed).toBe(0);
    await generation.close(0);
    await generation.close(0);
    expect(closed).toBe(1);
  } finally {
    process.off("capstan-test-closed" as never, count);
    project.remove();
  }
});

it("agents that people make may use the tools and the model of those in code", async () => {
  const tools = `import { defineAgent, defineTool } from "capstan";
    import { offline } from "capstan/models/offline";
    const tide = defineTool({ name: "tide", description: "The tide", input: { type: "object" }, execute: () => "High." });
    export default { agents: [defineAgent({ name: "desk", model: offline(), tools: [tide] })] };`;
  const project = scratchProject({ "capstan.config.mjs": tools });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  const generation = await openGeneration({ flags: { trust: true }, io });
  try {
    const request = new Request("http://127.0.0.1/api/agent-parts", { headers: { host: "127.0.0.1" } });
    const parts = await (await generation.server.fetch(request)).json();
    expect(parts).toMatchObject({
      tools: [{ name: "tide", description: "The tide" }],
      models: ["offline/rules"],
    });
  } finally {
    await generation.close(0);
    project.remove();
  }
});

it("a key that the configuration sets is asked for", async () => {
  const project = scratchProject({
    "capstan.config.mjs": `export default { server: { apiKey: "a-key-of-sixteen-characters" } };`,
  });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  const generation = await openGeneration({ flags: { trust: true }, io });
  const ask = (headers: object) =>
    generation.server.fetch(
      new Request("http://127.0.0.1/api/about", { headers: { host: "127.0.0.1", ...headers } }),
    );
  try {
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: "Bearer a-key-of-sixteen-characters" })).status).toBe(200);
  } finally {
    await generation.close(0);
    project.remove();
  }
});

it("agents that people make may also use tools that come from a function; one that fails is no harm", async () => {
  const tools = `import { defineAgent, defineTool } from "capstan";
    import { offline } from "capstan/models/offline";
    const tide = defineTool({ name: "tide", description: "The tide", input: { type: "object" }, execute: () => "High." });
    const broken = () => { throw new Error("not now"); };
    export default { agents: [
      defineAgent({ name: "desk", model: offline(), tools: () => [tide] }),
      defineAgent({ name: "cook", model: offline(), tools: broken }),
    ] };`;
  const project = scratchProject({ "capstan.config.mjs": tools });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  const generation = await openGeneration({ flags: { trust: true }, io });
  try {
    const request = new Request("http://127.0.0.1/api/agent-parts", { headers: { host: "127.0.0.1" } });
    const parts = await (await generation.server.fetch(request)).json();
    expect(parts).toMatchObject({ tools: [{ name: "tide" }] });
  } finally {
    await generation.close(0);
    project.remove();
  }
});
