import { createOnce } from "../../base/lazy.ts";
import { handoffName } from "../../kernel/agent.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { HandoffPolicy } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";

/** The handoff tool. It has no `execute`: a rule performs the handoff or denies it, naming the allowed agents. */
export const getHandoff: () => Tool = createOnce(() =>
  defineTool({
    name: handoffName,
    description: "Hands the conversation over to another agent.",
    input: {
      type: "object",
      properties: { agent: { type: "string" }, message: { type: "string" } },
      required: ["agent"],
    },
    effects: "none",
    reads: [],
  }),
);

/** Builds the handoff tool's definition for the model, with the names of the allowed agents. */
export function buildHandoffSpec(names: readonly string[], mode: HandoffPolicy["mode"]): ToolSpec {
  const then = mode === "return" ? "Its answer comes back as the result." : "It stays in charge.";
  return {
    name: handoffName,
    description: `Hands the conversation over to another agent, who sees all of it. ${then} Call it alone.`,
    input: {
      type: "object",
      properties: {
        agent: { type: "string", enum: names, description: "The name of that agent." },
        message: { type: "string", description: "What it is to do." },
      },
      required: ["agent"],
    },
  };
}
