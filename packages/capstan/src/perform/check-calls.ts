import type { Agent } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import { suggestName } from "../definition.ts";
import { describeThrown, type ErrorData, toErrorData, truncateMessage } from "../errors.ts";
import type { CallCheck, FactBody } from "../event.ts";
import type { AssistantPart, CallPart } from "../history.ts";
import { collectForeignLabels, mergeLabels } from "../labels.ts";
import { defaultPolicy } from "../policy.ts";
import { getRootState } from "../state/nested-state.ts";
import { hasEffect, type Tool } from "../tool.ts";
import { computeDigest } from "./digest.ts";
import { allow, checkGate, type GateInput, isNamedBy } from "./gate.ts";
import { getRunId, type Io } from "./io.ts";
import { parseArguments } from "./parse-arguments.ts";
import { repairArguments } from "./repair.ts";

type CheckedCalls = {
  /** The message as it goes into the history: with arguments that were repaired, and without those beyond use. */
  readonly parts: readonly AssistantPart[];
  readonly checks: { readonly [callId: string]: CallCheck } | undefined;
  /** Warnings that tell what was repaired. */
  readonly repairs: readonly FactBody[];
};

/** Looks at each call as soon as the model has said it: only a call that could run is worth a person's approval. */
export async function checkCalls(
  said: readonly AssistantPart[],
  agent: Agent,
  io: Io,
): Promise<CheckedCalls> {
  const parts: AssistantPart[] = [];
  const checks: [string, CallCheck][] = [];
  const repairs: FactBody[] = [];
  for (const part of said) {
    if (part.type !== "call") {
      parts.push(part);
      continue;
    }
    const { call, check, repaired } = await checkCall(part, agent, io);
    parts.push(call);
    if (check) checks.push([call.id, check]);
    if (repaired) repairs.push({ type: "warning", code: "arguments_repaired", message: repaired });
  }
  // fromEntries defines own keys, whatever a provider calls its ids.
  return { parts, checks: checks.length > 0 ? Object.fromEntries(checks) : undefined, repairs };
}

type CheckedCall = { readonly call: CallPart; readonly check?: CallCheck; readonly repaired?: string };

async function checkCall(said: CallPart, agent: Agent, io: Io): Promise<CheckedCall> {
  const tool = findTool(agent, said.name);
  if (!tool)
    return { call: keepRawArguments(said), check: { error: createUnknownToolError(said.name, agent) } };
  const valid = await validateInput(tool, said.raw ?? said.input);
  if ("value" in valid) return withApproval({ call: said }, valid.value, { tool, io });
  const repair = await repairArguments(said, tool.schema);
  if (!repair) return { call: keepRawArguments(said), check: valid };
  const { raw: _raw, ...rest } = said;
  const call = { ...rest, input: repair.input };
  const repaired = `The arguments of "${tool.name}" (${call.id}) were repaired: ${repair.repairs.join("; ")}.`;
  const revalid = await validateInput(tool, call.input);
  if ("error" in revalid) return { call: keepRawArguments(said), check: revalid };
  return withApproval({ call, repaired }, revalid.value, { tool, io });
}

/** Arguments that cannot be used are kept for the eye only. */
function keepRawArguments(call: CallPart): CallPart {
  return call.raw === undefined ? call : { ...call, raw: truncateMessage(call.raw) };
}

/** The tool's own wish for approval goes before the gate's: it says more to a person. */
async function withApproval(
  checked: CheckedCall,
  input: unknown,
  { tool, io }: { tool: Tool; io: Io },
): Promise<CheckedCall> {
  try {
    const asks = await evaluateApproval(tool, input, io);
    // Most calls change nothing: for those nothing is gathered.
    const verdict = hasEffect(tool) ? checkGate(toGateInput(tool, input, io)) : allow;
    if (asks === false && verdict.verdict === "allow") return checked;
    const wish = asks === false ? "" : formatApprovalReason(asks) || `"${tool.name}" needs approval.`;
    const gated = verdict.verdict === "allow" ? undefined : verdict;
    const reason = [wish, gated?.reason ?? ""].filter((text) => text !== "").join(" ");
    const digest = await computeDigest(getRunId(io), tool, checked.call);
    return { ...checked, check: { approval: { reason, digest, ...(gated && { because: gated.because }) } } };
  } catch (thrown) {
    return { ...checked, check: { error: describeThrown(thrown, "tool_failed") } };
  }
}

/** What the tool says of the call. When it does not say so in its time, a person is asked. */
async function evaluateApproval(
  tool: Tool,
  input: unknown,
  { context, state, clock }: Io,
): Promise<boolean | string> {
  const said = tool.needsApproval?.(input, { context }) ?? false;
  if (typeof said === "boolean" || typeof said === "string") return said;
  const ms = tool.timeoutMs ?? (state.run?.policy ?? defaultPolicy).toolTimeoutMs;
  const late = Promise.withResolvers<string>();
  const cancel = clock.after(ms, () =>
    late.resolve(`"${tool.name}" did not say within ${ms} ms whether it needs approval.`),
  );
  try {
    return (await Promise.race([said, late.promise])) ?? false;
  } finally {
    cancel();
  }
}

function formatApprovalReason(asks: boolean | string): string {
  return typeof asks === "string" ? asks.trim() : "";
}

function toGateInput(tool: Tool, input: unknown, { agents, state }: Io): GateInput {
  const agent = agents.get(state.run?.agent ?? "");
  return {
    labels: mergeLabels(collectForeignLabels(agent?.tools.values() ?? []), state.labels),
    tool,
    target: tool.target?.(input),
    // The prompt of a nested run is not a person's words.
    isNamed: (target) => isNamedBy(getRootState(state).history, target),
    policy: state.run?.policy ?? defaultPolicy,
  };
}

export function createUnknownToolError(name: string, agent: Agent): ErrorData {
  const known = [...agent.tools.keys()];
  const shown = JSON.stringify(name.slice(0, 128));
  const all = known.length > 0 ? ` The tools are: ${known.slice(0, 20).join(", ")}.` : " There are no tools.";
  return toErrorData(
    "unknown_tool",
    `Unknown tool: no tool is named ${shown}.${suggestName(name, known) || all}`,
  );
}

/** `input` is an object, or the raw text of arguments that are not one. */
export async function validateInput(
  tool: Tool,
  input: unknown,
): Promise<{ value: unknown } | { error: ErrorData }> {
  const reject = (problem: string) => ({
    error: toErrorData(
      "bad_arguments",
      `Bad arguments for "${tool.name}": ${problem}. Correct them and call again.`,
    ),
  });
  if (typeof input === "string") {
    const parsed = parseArguments(input);
    if (!parsed.ok) return reject(parsed.problem);
  }
  try {
    // A copy: what a tool changes in its input is not what the model said.
    const result = await tool.schema.validate(structuredClone(input));
    return result.valid ? { value: result.value } : reject(result.issues.slice(0, 10).join("; "));
  } catch (thrown) {
    return { error: describeThrown(thrown, "tool_failed") };
  }
}
