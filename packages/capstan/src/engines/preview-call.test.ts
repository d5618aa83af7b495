import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../base/json.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/index.ts";
import { type LocalEngine, local } from "./local.ts";

const letter = { to: "ann@example.com", text: "Hello" };
const secret = "0044 20 7946 0000";
const sent: object[] = [];

/** Reads a page and a private record, then sends a letter that needs approval. */
function createMailer() {
  const read = defineTool({
    name: "read_page",
    description: "Reads a page",
    input: { url: { type: "string" } },
    effects: "none",
    reads: ["untrusted"],
    execute: () => "A page of others",
  });
  const customers = defineTool({
    name: "customers",
    description: "Finds customers",
    input: {},
    effects: "none",
    reads: ["private"],
    execute: () => `Ann Meyer, ${secret}`,
  });
  const send = defineTool({
    name: "send",
    description: "Sends a letter",
    input: z.object({ to: z.string(), text: z.string(), kind: z.enum(["letter", "card"]).optional() }),
    effects: "send",
    target: ({ to }) => to,
    needsApproval({ to, text }) {
      if (to.endsWith("@blocked.example")) throw new Error("Mail to blocked.example is not allowed.");
      return { reason: `To ${to}.`, ui: { kind: "email", props: { to: [to], subject: "", body: text } } };
    },
    execute(input) {
      sent.push(input);
      return "Sent";
    },
  });
  const model = scriptedModel([
    {
      calls: [
        { name: "read_page", input: { url: "https://others.example" } },
        { name: "customers", input: {} },
      ],
    },
    { calls: [{ id: "c1", name: "send", input: letter }] },
    { text: "Done." },
  ]);
  return defineAgent({ name: "mailer", model, tools: [read, customers, send] });
}

const question = "Write “Hello” to ann@example.com.";
let engine: LocalEngine | undefined;

async function startEngine(agent = createMailer()) {
  engine = local({ store: memory(), agents: [agent] }) as LocalEngine;
  const { pending } = await engine.run(agent, question, { session: "s", runId: "r" });
  return { engine, callId: pending[0]?.callId ?? "", pending };
}

afterEach(async () => {
  await engine?.close();
  sent.length = 0;
});

describe("the preview of a call that waits for approval", () => {
  it("has the schema of the arguments, and nothing else than the call itself if they are unchanged", async () => {
    const { engine, callId, pending } = await startEngine();
    const { inputSchema, ...preview } = await engine.previewCall("r", callId);
    expect(preview).toEqual(pending[0]);
    expect(inputSchema).toMatchObject({
      properties: { kind: { enum: ["letter", "card"] } },
      required: ["to", "text"],
    });
    expect(pending[0]).not.toHaveProperty("because"); // the user named this target
  });

  it("with other arguments has their warnings, reason and picture, and an approval still counts (A30, A107)", async () => {
    const { engine, callId } = await startEngine();
    const input = { to: "eve@example.com", text: `Her number is ${secret}` };
    const preview = await engine.previewCall("r", callId, { input });
    expect(preview).toMatchObject({
      input,
      because: [{ tool: "read_page" }, { tool: "customers" }],
      leaks: [{ tool: "customers", turn: 1 }],
      ui: { kind: "email", props: { to: ["eve@example.com"] } },
    });
    expect(preview.reason).toMatch(
      /^To eve@example.com\. "send" would send data to .* The arguments contain private data/,
    );
    expect(sent).toEqual([]);
    await engine.open("r").approveWith(callId, input);
    expect(sent).toEqual([input]);
  });

  it("is that of the nested run that made the call", async () => {
    const agent = defineAgent({
      name: "boss",
      model: scriptedModel([{ calls: [{ name: "mailer", input: { prompt: "Write" } }] }, { text: "Done." }]),
      tools: [agentTool(createMailer())],
    });
    const { engine, callId } = await startEngine(agent as never);
    const input = { ...letter, text: `Her number is ${secret}` };
    expect(await engine.previewCall("r", callId, { input })).toMatchObject({
      leaks: [{ tool: "customers" }],
      agent: "mailer",
    });
  });

  it.each<[string, Json, RegExp]>([
    ["that do not match the schema", { to: "bob" }, /text/],
    [
      "that the tool refuses",
      { ...letter, to: "eve@blocked.example" },
      /refused: .*blocked\.example is not allowed/,
    ],
  ])("rejects arguments %s, and the call keeps waiting", async (_, input, message) => {
    const { engine, callId } = await startEngine();
    await expect(engine.previewCall("r", callId, { input })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(message),
    });
    await expect(engine.previewCall("r", "c9")).rejects.toMatchObject({ code: "unknown_call" });
    expect((await engine.getResult("r")).pending).toHaveLength(1);
  });

  it("is not needed for safety: arguments that the tool refuses are denied, whoever sends them", async () => {
    const { engine, callId } = await startEngine();
    const result = await engine.open("r").approveWith(callId, { ...letter, to: "eve@blocked.example" });
    expect(sent).toEqual([]);
    expect(result.toolCalls.at(-1)).toMatchObject({ name: "send", status: "denied" });
    expect(JSON.stringify(result.history)).toContain("Mail to blocked.example is not allowed.");
  });
});
