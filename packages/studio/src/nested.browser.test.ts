import { agentTool, defineAgent, defineTool, type Model, type Tool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expect, test } from "vitest";
import { assertAccessible } from "./testing/accessibility.ts";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { getCards, sendMessage, waitUntilIdle } from "./testing/conversation-page.ts";

/** Opens after the test has seen what is shown before it. */
const gates = { dive: Promise.withResolvers<void>(), report: Promise.withResolvers<void>() };

const dive = defineTool({
  name: "dive",
  description: "Dives to the wreck",
  input: { type: "object", properties: {} },
  effects: "none",
  reads: ["public"],
  async execute(_, { progress }) {
    progress({ progress: 12, total: 40 });
    await gates.dive.promise;
    return "An anchor.";
  },
});
/** Writes half of its report, and the rest when the gate is open. */
const diverModel: Model = {
  id: "test/diver",
  async *stream({ history }) {
    if (history.at(-1)?.type === "user") {
      yield [
        { type: "call_start", index: 0, name: "dive" },
        { type: "call_delta", index: 0, text: "{}" },
        { type: "finish", reason: "tool_calls" },
      ];
      return;
    }
    yield [{ type: "text", text: "The wreck has" }];
    await gates.report.promise;
    yield [
      { type: "text", text: " an anchor." },
      { type: "finish", reason: "stop" },
    ];
  },
};
const diver = agentTool(defineAgent({ name: "diver", model: diverModel, tools: [dive] }));
/** Passes the prompt on, and the answer back. */
const createLead = (name: string, tool: Tool) =>
  defineAgent({
    name,
    model: scriptedModel(({ history }) =>
      history.at(-1)?.type === "result"
        ? { text: `${name} knows.` }
        : { calls: [{ name: tool.name, input: { prompt: "What is down there?" } }] },
    ),
    tools: [tool],
  });
const captain = agentTool(createLead("captain", diver));
const studio = setupStudio(() => ({ agents: [createLead("harbour", captain)] }));

test("the text and the progress of a sub-agent's sub-agent are shown while it works", async () => {
  const page = await studio.open("/");
  await sendMessage(page, "What is in the wreck?");
  const nested = page.getByRole("region", { name: "Nested run of diver" });
  await getCards(page, "running").last().getByText("12 of 40", { exact: true }).waitFor();
  await takePicture(page, "nested-progress");
  gates.dive.resolve();
  await nested.getByText("The wreck has", { exact: true }).waitFor();
  await expect.poll(() => nested.getByText("Working…").count()).toBe(0);
  await takePicture(page, "nested-text");
  gates.report.resolve();
  await nested.getByText("The wreck has an anchor.", { exact: true }).waitFor();
  await waitUntilIdle(page);
  await page.getByText("harbour knows.", { exact: true }).waitFor();
  await expect.poll(() => nested.getByText("The wreck has an anchor.", { exact: true }).count()).toBe(1);
  await assertAccessible(page);
});
