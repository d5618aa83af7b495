import type { Agent } from "../agent.ts";
import { describeThrown, type ErrorData, errorData } from "../errors.ts";
import type { CallCheck } from "../event.ts";
import type { CallPart } from "../history.ts";
import { nearest } from "../near-names.ts";
import type { Tool } from "../tool.ts";
import { digestOf } from "./digest.ts";
import { type Io, runIdOf } from "./io.ts";
import { parseArguments } from "./parse-arguments.ts";

/** Looks at each call as soon as the model has said it: only a call that could run is worth a person's approval. */
export async function checkCalls(
  calls: readonly CallPart[],
  agent: Agent,
  io: Io,
): Promise<{ [callId: string]: CallCheck } | undefined> {
  const checks: [string, CallCheck][] = [];
  for (const call of calls) {
    const check = await checkCall(call, agent, io);
    if (check) checks.push([call.id, check]);
  }
  // fromEntries defines own keys, whatever a provider calls its ids.
  return checks.length > 0 ? Object.fromEntries(checks) : undefined;
}

async function checkCall(call: CallPart, agent: Agent, io: Io): Promise<CallCheck | undefined> {
  const found = findTool(call.name, agent);
  if ("error" in found) return found;
  const valid = await validateInput(found.tool, call.raw ?? call.input);
  if ("error" in valid) return valid;
  if (!found.tool.needsApproval) return undefined;
  try {
    const asks = await found.tool.needsApproval(valid.value, { context: io.context });
    if (asks === false) return undefined;
    const reason = typeof asks === "string" ? asks : `"${call.name}" needs approval.`;
    return { approval: { reason, digest: await digestOf(runIdOf(io), found.tool, call) } };
  } catch (thrown) {
    return { error: describeThrown(thrown, "tool_failed") };
  }
}

export function findTool(name: string, agent: Agent): { tool: Tool } | { error: ErrorData } {
  const tool = agent.tools.get(name);
  if (tool) return { tool };
  const known = [...agent.tools.keys()];
  const shown = JSON.stringify(name.slice(0, 128));
  const hint =
    nearest(name, known) ||
    (known.length > 0 ? ` The tools are: ${known.slice(0, 20).join(", ")}.` : " There are no tools.");
  return { error: errorData("unknown_tool", `Unknown tool: no tool is named ${shown}.${hint}`) };
}

/** `input` is an object, or the raw text of arguments that are not one. */
export async function validateInput(
  tool: Tool,
  input: unknown,
): Promise<{ value: unknown } | { error: ErrorData }> {
  const wrong = (problem: string) => ({
    error: errorData(
      "bad_arguments",
      `Bad arguments for "${tool.name}": ${problem}. Correct them and call again.`,
    ),
  });
  if (typeof input === "string") {
    const parsed = parseArguments(input);
    if (!parsed.ok) return wrong(parsed.problem);
  }
  try {
    const result = await tool.schema.validate(input);
    return result.valid ? { value: result.value } : wrong(result.issues.slice(0, 10).join("; "));
  } catch (thrown) {
    return { error: describeThrown(thrown, "tool_failed") };
  }
}
