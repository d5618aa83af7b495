import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { run } from "../../runtime/run.ts";
import {
  createCallStep,
  createClerk,
  createIdleTool,
  createSearchStep,
  fixedNames,
  listSentTools,
  clerkTools as tools,
} from "../../testing/deferred-tools.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const invoice = tools.find(({ name }) => name === "invoice_create");
const done: ScriptedStep = { text: "Done." };

describe("deferred tools", () => {
  it("are sent once they are found, after the others and in the order found", async () => {
    const { agent, model } = createClerk([
      createSearchStep("refund money", 1),
      createSearchStep("invoices", 1),
      createCallStep("payment_refund", { id: "p1" }),
      createSearchStep("refund", 1),
      done,
    ]);
    const { toolCalls } = await run(agent, "Go");
    expect(listSentTools(model)).toEqual([
      fixedNames,
      [...fixedNames, "payment_refund"],
      [...fixedNames, "payment_refund", "invoice_create"],
      [...fixedNames, "payment_refund", "invoice_create"],
      [...fixedNames, "payment_refund", "invoice_create"],
    ]);
    expect(toolCalls.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(model.requests[2]?.tools.at(-1)).toEqual({
      ...{ name: "invoice_create", description: invoice?.description, input: invoice?.schema.json },
    });
  });

  it("do not change an agent that has none", async () => {
    const { agent, model } = createClerk(
      [done],
      [createIdleTool("get_time", "Tells the time"), createIdleTool("mail_send", "Sends an email")],
    );
    await run(agent, "Go");
    expect(listSentTools(model)).toEqual([["get_time", "mail_send"]]);
  });

  it("are all but those with `defer: false` if there are more than the policy allows", async () => {
    const list = [
      createIdleTool("mail_send", "Sends an email", { defer: true }),
      createIdleTool("get_time", "Tells the time", { defer: false }),
      createIdleTool("b", "B"),
    ];
    const first = async (policy: PolicyOverrides) => {
      const { agent, model } = createClerk([done], list, policy);
      await run(agent, "Go");
      return listSentTools(model)[0];
    };
    expect(await first({ deferToolsAbove: 2 })).toEqual(fixedNames);
    expect(await first({ deferToolsAbove: 3 })).toEqual(["get_time", "b", "search_tools", "read_result"]);
    expect(await first({ deferToolsAbove: "unlimited" })).toEqual([
      "get_time",
      "b",
      "search_tools",
      "read_result",
    ]);
  });

  it("can be called by their exact name, and are sent from then on", async () => {
    const { agent, model } = createClerk([createCallStep("mail_send"), done]);
    const { toolCalls } = await run(agent, "Go");
    expect(toolCalls).toMatchObject([{ name: "mail_send", status: "ok" }]);
    expect(listSentTools(model)).toEqual([fixedNames, [...fixedNames, "mail_send"]]);
  });

  it("are sent if the settings demand their call, and stay where they are", async () => {
    const model = scriptedModel([createSearchStep("email", 1), createCallStep("payment_refund"), done]);
    const settings = ({ turn }: { readonly turn: number }) =>
      turn === 2 ? { toolChoice: { tool: "payment_refund" } } : {};
    await run(defineAgent({ name: "clerk", model, tools, settings }), "Go");
    expect(model.requests[1]?.toolChoice).toEqual({ tool: "payment_refund" });
    const found = [...fixedNames, "mail_send", "payment_refund"];
    expect(listSentTools(model)).toEqual([fixedNames, found, found]);
  });

  it("are sent after a call with wrong arguments, so that the model can correct it", async () => {
    const { agent, model } = createClerk(
      [createCallStep("mail_send", { id: 7, to: "x" }), done],
      [
        createIdleTool("mail_send", "Sends", {
          defer: true,
          input: { type: "object", required: ["to", "id", "text"], properties: { text: { type: "string" } } },
        }),
      ],
    );
    const { toolCalls } = await run(agent, "Go");
    expect(toolCalls).toMatchObject([{ status: "error" }]);
    expect(listSentTools(model)[1]).toContain("mail_send");
  });

  it("that do not exist are reported with the way to find others", async () => {
    const { agent } = createClerk([createCallStep("teleport"), createSearchStep("zebra crossing"), done]);
    const { toolCalls } = await run(agent, "Go");
    expect(toolCalls[0]?.result).toMatch(/no tool is named "teleport".*search_tools/);
    expect(toolCalls[1]?.result).toMatch(/No tool matches "zebra crossing".*other words/);
  });

  it("cannot take the place of the handoff tool, even if they are dynamic", async () => {
    const model = scriptedModel([
      createSearchStep("handoff"),
      createCallStep("handoff", { agent: "other" }),
      done,
    ]);
    const other = defineAgent({ name: "other", model: scriptedModel([done]) });
    const dynamic = () => [createIdleTool("handoff", "Fake handoff", { defer: true }), ...tools];
    await run(defineAgent({ name: "clerk", model, tools: dynamic, handoffs: [other] }), "Go");
    const offered = ["get_time", "search_tools", "read_result", "handoff"];
    expect(listSentTools(model).slice(0, 2)).toEqual([offered, offered]);
    expect(model.requests[1]?.tools.at(-1)?.description).not.toContain("Fake");
  });

  it("are described to instructions only if they are sent from the start", async () => {
    const described: string[][] = [];
    const model = scriptedModel([createSearchStep("email"), done]);
    const instructions = ({ tools: specs }: { tools: readonly ToolSpec[] }) => {
      described.push(specs.map(({ name }) => name));
      return "Help.";
    };
    await run(defineAgent({ name: "clerk", model, tools, instructions }), "Go");
    expect(described).toEqual([
      ["get_time", "search_tools"],
      ["get_time", "search_tools"],
    ]);
  });

  it("are refused next to a tool of the application with the name of the search", () => {
    const own = createIdleTool("search_tools", "My own");
    expect(() => createClerk([], [own, ...tools])).toThrow(
      /"clerk" has a tool named "search_tools", so "mail_send" with `defer` could not be found/,
    );
    expect(() => createIdleTool("a", "A", { defer: "yes" as never })).toThrow(
      /defer of the tool "a" cannot be "yes"/,
    );
  });

  it("leave an agent with its own `search_tools` as it is, however many tools it has", async () => {
    const own = createIdleTool("search_tools", "My own");
    const { agent, model } = createClerk(
      [createSearchStep("email"), done],
      [own, createIdleTool("get_time", "Tells the time")],
      { deferToolsAbove: 0 },
    );
    const { toolCalls } = await run(agent, "Go");
    expect(toolCalls[0]?.result).toBe("search_tools done");
    expect(listSentTools(model)[1]).toEqual(["search_tools", "get_time"]);
  });
});

describe("a search by meaning", () => {
  const embed = async (texts: readonly string[]) =>
    texts.map((text) => (/refund|give the money back/i.test(text) ? [1, 0] : [0, 1]));

  it("finds a tool without a common word, if the application embeds texts", async () => {
    const model = scriptedModel([createSearchStep("give the money back", 1), done]);
    await run(defineAgent({ name: "clerk", model, tools, embedTools: embed }), "Go");
    expect(listSentTools(model)[1]).toEqual([...fixedNames, "payment_refund"]);
  });

  it("goes by the words if the texts cannot be embedded", async () => {
    const model = scriptedModel([createSearchStep("send an email", 1), done]);
    const embedTools = async () => Promise.reject(new Error("no network"));
    await run(defineAgent({ name: "clerk", model, tools, embedTools }), "Go");
    expect(listSentTools(model)[1]).toEqual([...fixedNames, "mail_send"]);
  });
});
