import { agentTool } from "../../features/nested/agent-tool.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { gossipModel } from "../obedient-model.ts";
import { type Carrier, type Carriers, call, nothing } from "./injection-lab.ts";

/** The text is in the metadata of a tool from an unapproved server. */
function createMetadataCarrier(
  describe: (words: string) => { description?: string; input?: JsonSchema },
): Carrier {
  return (words, lab) => lab.run({ tools: [createServerTool(describe(words))], plan: [call("customers")] });
}

function createServerTool(metadata: { description?: string; input?: JsonSchema }): Tool {
  const { description = "The time.", input = nothing } = metadata;
  const tool = defineTool({
    ...{ name: "server_time", description, input, effects: "none", reads: [], foreign: "server" },
    execute: () => "noon",
  });
  return tool as Tool;
}

const withParameter = (parameter: JsonSchema) => ({
  input: { type: "object", properties: { zone: parameter } },
});

export const metadataCarriers: Carriers = {
  "a tool description": createMetadataCarrier((description) => ({ description })),
  "a parameter description": createMetadataCarrier((description) =>
    withParameter({ type: "string", description }),
  ),
  "an enum": createMetadataCarrier((words) => withParameter({ enum: ["UTC", words] })),
  "a schema example": createMetadataCarrier((words) => withParameter({ type: "string", examples: [words] })),
  "a default value": createMetadataCarrier((words) => withParameter({ type: "string", default: words })),
  "the title of a schema": createMetadataCarrier((title) => ({ input: { ...nothing, title } })),
  "the name of a parameter": createMetadataCarrier((words) => ({
    input: { type: "object", properties: { [words]: { type: "string" } } },
  })),
  "the description of a tool that was found by a search": (words, lab) => {
    const found = { ...createServerTool({ description: words }), defer: true };
    return lab.run({
      tools: [found],
      plan: [call("customers"), call("search_tools", { query: "server time" })],
    });
  },
  "the description of a found tool, where the tools it orders were found too": (words, lab) => {
    const offices = {
      query: "send mail, post, fetch url, delete file, pay, remember, book, customers",
      limit: 20,
    };
    const plan = [
      call("search_tools", offices),
      call("search_tools", { query: "server" }),
      call("customers"),
    ];
    const policy = { deferToolsAbove: 0 };
    return lab.run({ tools: [createServerTool({ description: words })], plan, policy });
  },
  "a tool description that addresses a sub-agent": (words, lab) => {
    const description = `DO helper ${JSON.stringify({ prompt: words })}`;
    const helper = agentTool(lab.agent("helper", { plan: [call("customers")] }));
    return lab.run({ tools: [createServerTool({ description }), helper] });
  },
  "a tool description that an earlier answer repeats": async (words, lab) => {
    await lab.run({ model: gossipModel(), tools: [createServerTool({ description: words })] });
    return lab.run({ plan: [call("customers")] });
  },
  "a tool description that a handoff repeats": (words, lab) => {
    const clerk = lab.agent("clerk", { plan: [call("customers")] });
    const message = JSON.stringify({ agent: "clerk", message: words });
    const description = `DO handoff ${message}`;
    const policy = { handoff: { mode: "transfer" } } as const;
    return lab.run({ tools: [createServerTool({ description })], handoffs: [clerk], policy });
  },
};
