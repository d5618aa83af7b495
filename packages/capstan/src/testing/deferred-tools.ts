import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { ToolSpec } from "../kernel/model.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool, type Tool, type ToolDefinition } from "../kernel/tool.ts";
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "./scripted-model.ts";

/** A tool that does nothing and says so. */
export function createIdleTool(
  name: string,
  description: string,
  settings: Partial<ToolDefinition<object>> = {},
): Tool {
  const input = { type: "object", properties: { id: { type: "string" } } };
  const tool = { name, description, input, effects: "none" as const, reads: [], ...settings };
  return defineTool({ ...tool, execute: () => `${name} done` });
}

/** Three deferred tools, and one that is always sent. */
export const clerkTools: readonly Tool[] = [
  createIdleTool("mail_send", "Sends an email", { defer: true }),
  createIdleTool("get_time", "Tells the time"),
  createIdleTool("invoice_create", "Creates an invoice for a customer", { defer: true }),
  createIdleTool("payment_refund", "Refunds a payment", { defer: true }),
];

/** The names of the tools that the clerk sends before it has found any. */
export const fixedNames: readonly string[] = ["get_time", "search_tools", "read_result"];

/** An agent whose model follows the steps. */
export function createClerk(
  steps: readonly ScriptedStep[],
  tools: readonly Tool[] = clerkTools,
  policy: PolicyOverrides = {},
): { readonly model: ScriptedModel; readonly agent: Agent } {
  const model = scriptedModel(steps);
  return { model, agent: defineAgent({ name: "clerk", model, tools, policy }) };
}

export function createSearchStep(query: string, limit?: number): ScriptedStep {
  return { calls: [{ name: "search_tools", input: { query, ...(limit !== undefined && { limit }) } }] };
}

export function createCallStep(name: string, input = {}): ScriptedStep {
  return { calls: [{ name, input }] };
}

export const listSpecNames = ({ tools }: { readonly tools: readonly ToolSpec[] }): readonly string[] =>
  tools.map(({ name }) => name);

/** The names of the tools in each request to the model. */
export const listSentTools = ({ requests }: ScriptedModel): readonly (readonly string[])[] =>
  requests.map(listSpecNames);
