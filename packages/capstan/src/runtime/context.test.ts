import { type } from "arktype";
import { Type } from "typebox";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { local } from "../engines/local.ts";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool, type ToolContext } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { resume, run } from "./run.ts";

const schemas = {
  zod: z.object({ user: z.string() }),
  valibot: v.object({ user: v.string() }),
  arktype: type({ user: "string" }),
  TypeBox: Type.Object({ user: Type.String() }),
  "JSON Schema": { type: "object", properties: { user: { type: "string" } }, required: ["user"] },
};

/** An agent whose tool needs approval, so that its run waits and can be resumed. */
function createWaitingAgent() {
  const seen: string[] = [];
  const send = defineTool({
    name: "send",
    description: "",
    input: z.object({}),
    needsApproval: true,
    execute: (_input, { context }: ToolContext<{ user: string }>) => seen.push(context.user),
  });
  const model = scriptedModel(({ history }) =>
    history.length === 1 ? { calls: [{ id: "c1", name: "send", input: {} }] } : { text: "Sent." },
  );
  const agent = defineAgent({ name: "helper", model, tools: [send], context: schemas.zod });
  return { agent, seen };
}

describe("the context of a run", () => {
  it.each(Object.entries(schemas))("is checked by a schema of %s", async (_library, schema) => {
    const model = scriptedModel([{ text: "Hello." }]);
    const agent = defineAgent({ name: "helper", model, context: schema });
    const store = memory();
    // `context` is not typed here: the schema is one of several.
    await expect(run(agent, "Hi", { store, context: { user: 5 }, session: "s" })).rejects.toMatchObject({
      code: "invalid_context",
      message: expect.stringMatching(/schema of the agent "helper": .*user/),
    });
    expect(await store.read("s", 0)).toEqual([]);
    expect(model.requests).toEqual([]);
    expect(await run(agent, "Hi", { store, context: { user: "ada" }, session: "s" })).toMatchObject({
      text: "Hello.",
    });
  });

  it("is missing: the error says where to pass it", async () => {
    const agent = defineAgent({ name: "helper", model: scriptedModel([]), context: schemas.zod });
    // @ts-expect-error: the agent needs a context
    await expect(run(agent, "Hi")).rejects.toThrow("Pass it as `context`");
  });

  it("is passed on unchanged, with everything that the schema does not mention", async () => {
    class Mailbox {
      readonly owner = "ada";
    }
    const seen: unknown[] = [];
    const agent = defineAgent({
      name: "helper",
      model: scriptedModel([{ text: "Hello." }]),
      context: z.object({ user: z.string().default("guest"), mailbox: z.instanceof(Mailbox) }),
      instructions({ context }) {
        seen.push(context);
        return `You serve ${context.mailbox.owner}.`;
      },
    });
    const context = { mailbox: new Mailbox(), trace: () => undefined };
    await run(agent, "Hi", { context });
    expect(seen).toEqual([context]);
    expect(seen[0]).toBe(context);
  });

  it("is checked again when another process resumes the run", async () => {
    const { agent, seen } = createWaitingAgent();
    const store = memory();
    const { runId } = await run(agent, "Go", { store, context: { user: "ada" } });
    // @ts-expect-error: the agent needs a context
    await expect(resume(agent, { store, runId }).approve("c1")).rejects.toMatchObject({
      code: "invalid_context",
    });
    const resumed = resume(agent, { store, runId }, { context: { user: "bob" } });
    expect(await resumed.approve("c1")).toMatchObject({ status: "done" });
    expect(seen).toEqual(["bob"]);
  });

  it("is not needed to cancel a run", async () => {
    const { agent } = createWaitingAgent();
    const store = memory();
    const { runId } = await run(agent, "Go", { store, context: { user: "ada" } });
    // @ts-expect-error: the agent needs a context
    expect(await resume(agent, { store, runId }).cancel()).toMatchObject({ status: "cancelled" });
  });

  it("can be missing in an engine: its runs wait for a process that has it", async () => {
    const { agent, seen } = createWaitingAgent();
    const store = memory();
    const { runId } = await run(agent, "Go", { store, context: { user: "ada" } });
    const tried = Promise.withResolvers<unknown>();
    // @ts-expect-error: the engine must say which context a run has
    const without = local({ store, agents: agent, onRunEnd: tried.resolve });
    await without.send(runId, { key: "m1", type: "approve", callId: "c1" });
    await tried.promise;
    await without.close();
    expect(seen).toEqual([]);
    const engine = local({
      store,
      agents: agent,
      getResumeOptions: () => ({ context: { user: "bob" } }),
    });
    await engine.recover();
    expect(await engine.open(runId)).toMatchObject({ status: "done" });
    expect(seen).toEqual(["bob"]);
    await engine.close();
  });
});

describe("an agent with an output schema", () => {
  it("has the output in the result of a run that is done, and in no other", async () => {
    const output = z.object({ when: z.iso.datetime().transform((text) => new Date(text)) });
    const model = scriptedModel([
      { text: '{"when": "2026-05-01T00:00:00Z"}' },
      { text: "No." },
      { text: "No." },
    ]);
    const agent = defineAgent({ name: "planner", model, output });
    const { result } = await collect(run(agent, "When?"));
    // A result is stored, so a date is its text.
    expect(result.status === "done" && result.output.when).toBe("2026-05-01T00:00:00.000Z");
    expect(result.orThrow().output.when).toBe("2026-05-01T00:00:00.000Z");
    const failed = await run(agent, "When?");
    expect(failed).toMatchObject({ status: "failed", error: { code: "output_invalid" } });
    expect(failed.output).toBeUndefined();
  });
});
