import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createScratchProject } from "../testing/cli-process.ts";
import { type LogFlags, openServerInstance } from "./server-instance.ts";

/** What is made from a configuration, until the test is over, and a way to ask it. */
async function generationOf(config: string, flags: LogFlags = {}) {
  const project = createScratchProject({ "capstan.config.mjs": config });
  onTestFinished(project.remove);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: project.env, cwd: project.folder };
  const generation = await openServerInstance({ flags: { trust: true, ...flags }, io });
  onTestFinished(() => generation.close(0));
  const ask = (path: string, headers: object = {}) =>
    generation.server.fetch(
      new Request(`http://127.0.0.1${path}`, { headers: { host: "127.0.0.1", ...headers } }),
    );
  return { generation, ask, stdout, folder: project.folder };
}

const withTide = (agents: string) => `
import { defineAgent, defineTool } from "capstan";
import { offline } from "capstan/models/offline";
const model = offline();
const tide = defineTool({ name: "tide", description: "The tide", input: { type: "object" }, execute: () => "High." });
export default { agents: [${agents}] };
`;

it("agents are introduced as the configuration says", async () => {
  const { ask } = await generationOf(`
    import { defineConfig } from "@capstan/cli";
    import { defineAgent } from "capstan";
    import { offline } from "capstan/models/offline";
    export default defineConfig({
      agents: [defineAgent({ name: "desk", model: offline() }), defineAgent({ name: "cook", model: offline() })],
      about: { desk: { title: "Front desk", description: "Knows the house", suggestions: ["When is breakfast?"] } },
    });`);
  const { agents } = await (await ask("/api/about")).json();
  expect(agents).toEqual([
    {
      ...{ name: "desk", title: "Front desk", description: "Knows the house" },
      suggestions: ["When is breakfast?"],
    },
    { name: "cook" },
  ]);
});

it("resources opened by a configuration are closed with its server instance, once", async () => {
  let closed = 0;
  const count = () => closed++;
  process.on("capstan-test-closed" as never, count);
  onTestFinished(() => void process.off("capstan-test-closed" as never, count));
  const { generation } = await generationOf(
    `export default { agents: [], close: () => process.emit("capstan-test-closed") };`,
  );
  expect(closed).toBe(0);
  await generation.close(0);
  await generation.close(0);
  expect(closed).toBe(1);
});

it("stored agents may use the tools and the model of agents in code", async () => {
  const { ask } = await generationOf(withTide(`defineAgent({ name: "desk", model, tools: [tide] })`));
  expect(await (await ask("/api/agent-parts")).json()).toMatchObject({
    tools: [{ name: "tide", description: "The tide" }],
    models: ["offline/rules"],
  });
});

it("stored agents may also use tools that come from a function; a failing function does no harm", async () => {
  const { ask } = await generationOf(
    withTide(`
      defineAgent({ name: "desk", model, tools: () => [tide] }),
      defineAgent({ name: "cook", model, tools: () => { throw new Error("not now"); } })`),
  );
  expect(await (await ask("/api/agent-parts")).json()).toMatchObject({ tools: [{ name: "tide" }] });
});

it("a key set in the configuration is required", async () => {
  const { ask } = await generationOf(`export default { server: { apiKey: "a-key-of-sixteen-characters" } };`);
  expect((await ask("/api/about")).status).toBe(401);
  const authorization = "Bearer a-key-of-sixteen-characters";
  expect((await ask("/api/about", { authorization })).status).toBe(200);
});

describe("the request log", () => {
  const config = withTide("defineAgent({ name: 'a', model, tools: [tide] })");
  const line = { method: "GET", route: "/api/agents", status: 200, user: "" };

  it("is written to a file that only its owner can read", async () => {
    const { ask, folder } = await generationOf(config, { log: "requests.log" });
    await (await ask("/api/agents")).text();
    const file = join(folder, "requests.log");
    await expect.poll(() => readFileSync(file, "utf8")).not.toBe("");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject(line);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("goes to stdout without a file, and a file that cannot be opened is an error", async () => {
    const { ask, stdout } = await generationOf(config, { log: true });
    await (await ask("/api/agents")).text();
    await expect.poll(() => stdout.readableLength).toBeGreaterThan(0);
    expect(JSON.parse(String(stdout.read()))).toMatchObject(line);
    await expect(generationOf(config, { log: "missing/requests.log" })).rejects.toThrow(
      /log cannot be opened: ENOENT.*Check --log/,
    );
  });
});
