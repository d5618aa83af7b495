import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AgentError } from "../base/errors.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { resume, run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";

const secret = "sk-proj-canary-0123456789abcdef";
const secrets = [secret];

/** Nothing of the environment, so that only what a test gives is masked. */
afterEach(() => vi.unstubAllEnvs());

function agentSaying(steps: readonly ScriptedStep[], ...tools: Tool[]) {
  const model = scriptedModel(steps);
  return { model, agent: defineAgent({ name: "a", model, tools }) };
}

const wordsOf = (events: readonly Event[]) =>
  events.map((event) => (event.type === "content_delta" ? event.delta : "")).join("");

describe("a run that knows secrets", () => {
  it("masks user input in the store, the request and the history (A110)", async () => {
    const { model, agent } = agentSaying([{ text: "Ok." }]);
    const store = memory();
    const { result } = await collect(run(agent, `My key: ${secret}`, { session: "s", store, secrets }));
    const asked = { type: "user", content: "My key: ***" };
    expect([model.requests[0]?.history[0], result.history[0]]).toEqual([asked, asked]);
    expect(JSON.stringify(await store.read("s"))).not.toContain("canary");
  });

  it("masks model output, while it streams and in the result (A110, A111)", async () => {
    const { agent } = agentSaying([{ text: `It is ${secret}!`, reasoning: secret, split: 3 }]);
    const { events, result } = await collect(run(agent, "Say it", { secrets }));
    expect([wordsOf(events), result.text]).toEqual(["It is ***!", "It is ***!"]);
    expect(JSON.stringify([events, result])).not.toContain("canary");
  });

  it("stores no log probabilities of tokens that spell a secret (A110, A111)", async () => {
    const say = (text: string) => {
      const tokens = text.match(/.{1,4}/g)?.map((token) => ({ token, logprob: -1 })) ?? [];
      const model: Model = {
        id: "m",
        async *stream() {
          yield [
            { type: "text", text },
            { type: "logprobs", tokens },
            { type: "finish", reason: "end" },
          ];
        },
      };
      return collect(run(defineAgent({ name: "a", model }), "Say it", { secrets }));
    };
    const isMessage = ({ type }: Event) => type === "message";
    expect((await say("Hello")).events.find(isMessage)).toMatchObject({ logprobs: [{ token: "Hell" }, {}] });
    const { events } = await say(`It is ${secret}`);
    expect(events.find(isMessage)).toMatchObject({ logprobs: [] });
    expect(JSON.stringify(events)).not.toMatch(/cana|nary/);
  });

  it("runs the approved call with the masked arguments that the user saw (A110, A109)", async () => {
    const got: unknown[] = [];
    const pay = defineTool({
      ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
      execute: (input) => void got.push(input),
    });
    const input = { key: secret, list: [JSON.stringify({ secret })] };
    const { agent } = agentSaying([{ calls: [{ name: "pay", input }], split: 5 }, { text: "Done." }], pay);
    const started = run(agent, "Pay", { secrets });
    const waiting = await started;
    expect(waiting.pending[0]?.input).toEqual({ key: "***", list: ['{"secret":"***"}'] });
    started.approve(waiting.pending[0]?.callId ?? "");
    expect((await started).toolCalls).toMatchObject([{ status: "ok" }]);
    expect(got).toEqual([{ key: "***", list: ['{"secret":"***"}'] }]);
  });

  it("masks a tool's question and the user's answer, and still matches them (A110, A109)", async () => {
    const got: unknown[] = [];
    const book = defineTool({
      ...{ name: "book", description: "Books", input: { type: "object" } },
      execute(_input, { answers }) {
        got.push(...answers);
        const schema = { type: "object", properties: { name: { type: "string", description: secret } } };
        const [url, state] = [`https://example.com/${secret}`, { secret }];
        return answers.length > 0 ? "ok" : { ask: { message: `Is it ${secret}?`, schema, url, state } };
      },
    });
    const store = memory();
    const { agent } = agentSaying([{ calls: [{ id: "c", name: "book" }] }, { text: "Done." }], book);
    const started = run(agent, "Book", { session: "s", store, secrets });
    const { pending } = await started;
    expect(pending).toMatchObject([{ reason: "Is it ***?", question: { message: "Is it ***?" } }]);
    started.approve("c", { name: secret });
    expect((await started).toolCalls).toMatchObject([{ status: "ok" }]);
    expect(got).toEqual([{ approved: true, value: { name: "***" }, state: { secret: "***" } }]);
    expect(JSON.stringify([pending, await store.read("s")])).not.toContain("canary");
  });

  it("pairs calls with results when a provider puts a secret into their ids (A110)", async () => {
    const look = defineTool({
      ...{ name: "look", description: "Looks", input: { type: "object" } },
      execute: () => "seen",
    });
    const calls = [1, 2].map((n) => ({ id: secret, name: "look", input: { n } }));
    const { model, agent } = agentSaying([{ calls }, { text: "Done." }], look);
    const { result } = await collect(run(agent, "Look", { secrets }));
    expect(result.toolCalls.map(({ id, status }) => [id, status])).toEqual([
      ["***", "ok"],
      ["***~2", "ok"],
    ]);
    expect(JSON.stringify(model.requests)).not.toContain("canary");
  });

  it("truncates a tool error of 5 MB to 4 KB without a partial secret at the end (F44)", async () => {
    for (const before of [0, 2000, 4096 - 30, 4096 - 20, 4096 - secret.length, 4096]) {
      const fail = defineTool({
        ...{ name: "fail", description: "Fails", input: { type: "object" } },
        execute(): never {
          throw new Error(`${"x".repeat(before)}${secret}${"y".repeat(5_000_000)}`);
        },
      });
      const { model, agent } = agentSaying([{ calls: [{ name: "fail" }] }, { text: "Sorry." }], fail);
      const { facts } = await collect(run(agent, "Go", { secrets }));
      const error = facts.flatMap((fact) => (fact.type === "tool_call_result" ? (fact.error ?? []) : []))[0];
      expect(error?.message.length).toBeLessThan(4200);
      expect(JSON.stringify([facts, model.requests])).not.toContain(secret.slice(0, secret.length / 2 + 1));
    }
  });

  it("masks a result before it is truncated and stored, so that no half of a secret remains (A110)", async () => {
    const dump = `${"x".repeat(7900)}${`${secret},`.repeat(300)}${"y".repeat(9000)}`;
    const read = defineTool({
      ...{ name: "read", description: "Reads", input: { type: "object" } },
      execute: () => dump,
    });
    const { model, agent } = agentSaying(
      [
        { calls: [{ name: "read" }] },
        { calls: [{ name: "read_result", input: { handle: "blob_1", from: 7000 } }] },
        { text: "Done." },
      ],
      read,
    );
    const store = memory();
    await collect(run(agent, "Read", { session: "s", store, secrets, policy: { gate: "off" } }));
    const blob = await store.getBlob("s", "blob_1");
    expect(JSON.stringify([blob, await store.read("s"), model.requests])).not.toMatch(/canary|sk-proj/);
    expect(model.requests).toHaveLength(3);
  });

  it("masks bytes returned by a tool (A110)", async () => {
    const bytes = defineTool({
      ...{ name: "bytes", description: "Bytes", input: { type: "object" } },
      execute: () => Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from(secret), Buffer.from([0, 200])]),
    });
    const { agent } = agentSaying([{ calls: [{ name: "bytes" }] }, { text: "Done." }], bytes);
    const store = memory();
    await collect(run(agent, "Read", { session: "s", store, secrets }));
    expect([...((await store.getBlob("s", "blob_1"))?.data ?? [])]).toEqual([
      0, 255, 128, 42, 42, 42, 0, 200,
    ]);
  });

  it("masks a provider's error, wherever it is truncated (A112)", async () => {
    const refused = new AgentError("model_auth", `Incorrect API key provided: ${secret}.`);
    const cut = new AgentError("model_auth", `Incorrect API key provided: ${secret.slice(0, 20)}`);
    for (const error of [refused, cut]) {
      const { agent } = agentSaying([{ error }]);
      const { events, result } = await collect(run(agent, "Hi", { secrets }));
      expect(result.error?.message).toContain("Incorrect API key provided: ***");
      expect(JSON.stringify([events, result])).not.toContain("canary");
    }
  });

  it("sends no secret to a named model, and masks secrets it quotes (A110, A112)", async () => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      for await (const bytes of request) bodies.push(String(bytes));
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${secret}` } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("OLLAMA_HOST", `127.0.0.1:${(server.address() as AddressInfo).port}`);
    const agent = defineAgent({ name: "a", model: "ollama/masked", instructions: `The key is ${secret}.` });
    const { events, result } = await collect(run(agent, secret, { secrets }));
    server.close();
    expect(bodies.join("")).toContain("The key is ***.");
    expect(result.error).toMatchObject({ code: "model_auth" });
    expect(JSON.stringify([bodies, events, result])).not.toContain("canary");
  });

  it("masks a structured answer, including keys and numbers (A110)", async () => {
    const model = scriptedModel([{ text: JSON.stringify({ [secret]: [secret, 31415926] }) }]);
    const agent = defineAgent({ name: "a", model, output: { type: "object" } });
    const result = await run(agent, "Go", { secrets: [secret, "31415926"] });
    expect(result.output).toEqual({ "***": ["***", "***"] });
  });

  it("does not leak a secret when a listener throws within it (A111)", async () => {
    const { agent } = agentSaying([{ text: `It is ${secret}!`, split: 4 }]);
    let threw = 0;
    const onEvent = ({ type }: Event) => {
      if (type === "content_delta" && ++threw === 1) throw new Error(secret);
    };
    const { events } = await collect(run(agent, "Say it", { secrets, hooks: { onEvent } }));
    expect(wordsOf(events)).toBe("It is ***!");
    expect(events.some(({ type }) => type === "warning")).toBe(true);
    expect(JSON.stringify(events)).not.toContain("canary");
  });

  it("does not store half of a secret when it is cancelled (A111)", async () => {
    const { agent } = agentSaying([{ text: `It is ${secret.slice(0, 25)}`, split: 5, hang: true }]);
    const started = run(agent, "Say it", { secrets });
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type === "content_delta") setTimeout(() => started.cancel(secret), 5);
    }
    const result = await started;
    expect(result.status).toBe("cancelled");
    expect(JSON.stringify([events, result])).not.toContain("canary");
  });

  it("masks earlier stored facts in requests and in its result (A110)", async () => {
    const store = memory();
    const { agent } = agentSaying([{ text: secret }]);
    await run(agent, `First ${secret}`, { session: "s", store });
    const { model, agent: next } = agentSaying([{ text: "Ok." }]);
    const result = await run(next, "Second", { session: "s", store, secrets });
    expect(JSON.stringify([model.requests, result])).not.toContain("canary");
    expect(model.requests[0]?.history).toHaveLength(3);
  });

  it("keeps masking when it is resumed with the secrets (A110)", async () => {
    const ask = defineTool({ name: "ask", description: "Asks", input: { type: "object" } });
    const { agent } = agentSaying([{ calls: [{ id: "c1", name: "ask" }] }, { text: `So ${secret}` }], ask);
    const store = memory();
    const first = run(agent, "Go", { session: "s", store, runId: "r", secrets });
    await first;
    const second = resume(agent, { store, runId: "r" }, { secrets });
    second.answer("c1", secret);
    const { events, result } = await collect(second);
    expect(result.text).toBe("So ***");
    expect(JSON.stringify([events, await store.read("s")])).not.toContain("canary");
  });

  it("rejects with a masked error when its store fails (A110, A112)", async () => {
    const { agent } = agentSaying([{ text: "Ok." }]);
    const append = async () => {
      throw new AgentError("store_failed", `No connection to postgres://u:${secret}@db`);
    };
    const started = run(agent, "Hi", { store: { ...memory(), append }, secrets });
    const error = await started.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ code: "store_failed", message: "No connection to postgres://u:***@db" });
    expect(error?.stack).not.toContain("canary");
  });

  it("rejects a secret that is too short, without revealing it", async () => {
    const { agent } = agentSaying([{ text: "Ok." }]);
    await expect(run(agent, "Hi", { secrets: ["short"] })).rejects.toThrow(
      "Secret 1 cannot be masked: it must have at least 6 characters.",
    );
  });

  it("works with secrets that equal our vocabulary", async () => {
    const look = defineTool({
      ...{ name: "look_up", description: "Looks", input: { type: "object" } },
      execute: () => ({ data: { status: "success" } }),
    });
    const words = [
      "message",
      "assistant",
      "result",
      "run_start",
      "tool_call_result",
      "look_up",
      "tool_calls",
    ];
    const { agent } = agentSaying([{ calls: [{ name: "look_up" }] }, { text: "A message." }], look);
    const { result } = await collect(run(agent, "Look", { secrets: words }));
    expect(result).toMatchObject({ status: "done", text: "A ***.", toolCalls: [{ status: "ok" }] });
  });

  it("masks keys of model providers from the environment automatically (A110)", async () => {
    vi.stubEnv("OPENAI_API_KEY", secret);
    const { agent } = agentSaying([{ text: `It is ${secret}` }]);
    expect((await run(agent, "Say it")).text).toBe("It is ***");
  });
});

describe("a run without secrets", () => {
  it("changes nothing", async () => {
    for (const name of Object.keys(process.env)) if (/_(KEY|TOKEN)$/.test(name)) vi.stubEnv(name, "");
    const { agent } = agentSaying([{ text: `It is ${secret}`, split: 5 }]);
    const { events, result } = await collect(run(agent, "Say it"));
    expect([wordsOf(events), result.text]).toEqual([`It is ${secret}`, `It is ${secret}`]);
  });
});
