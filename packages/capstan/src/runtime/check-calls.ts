import { suggestName } from "../base/definition.ts";
import { describeThrown, type ErrorData, toErrorData, truncateMessage } from "../base/errors.ts";
import { cloneJson } from "../base/json.ts";
import { computeDigest, computeScope } from "../features/approvals/digest.ts";
import { findLeaks } from "../features/approvals/find-leaks.ts";
import { allow, checkGate, type GateInput } from "../features/approvals/gate.ts";
import { formatLeaks } from "../features/approvals/gate-reason.ts";
import { isNamedBy } from "../features/approvals/named-target.ts";
import { findTool } from "../features/calls/find-tool.ts";
import { getRootState } from "../features/nested/nested-state.ts";
import { splitTools } from "../features/tool-search/search-tools.ts";
import type { Agent } from "../kernel/agent.ts";
import type { ApprovalScope } from "../kernel/approval-scope.ts";
import type { CallCheck } from "../kernel/call-check.ts";
import { parseArguments } from "../kernel/calls/parse-arguments.ts";
import { repairArguments } from "../kernel/calls/repair.ts";
import { createThrownReport, type DescribeThrown } from "../kernel/calls/report-thrown.ts";
import type { FactBody } from "../kernel/event.ts";
import type { AssistantPart, CallPart } from "../kernel/history.ts";
import type { Io } from "../kernel/io.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { findNewDescriptions, getLabels, withoutOwnDescriptions } from "../kernel/provenance.ts";
import { getRunId } from "../kernel/state.ts";
import {
  type Approval,
  type ApprovalRequest,
  hasEffect,
  searchToolsName,
  type Tool,
} from "../kernel/tool.ts";

type CheckedCalls = {
  /** The parts for the history: with repaired arguments, and unusable ones truncated. */
  readonly parts: readonly AssistantPart[];
  readonly checks: { readonly [callId: string]: CallCheck } | undefined;
  /** Warnings about repaired arguments. */
  readonly repairs: readonly FactBody[];
};

/** Checks each call as soon as the model has made it, so that the user only has to approve calls that can run. */
export async function checkCalls(
  messageParts: readonly AssistantPart[],
  agent: Agent,
  io: Io,
): Promise<CheckedCalls> {
  const parts: AssistantPart[] = [];
  const checks: [string, CallCheck][] = [];
  const repairs: FactBody[] = [];
  for (const part of messageParts) {
    if (part.type !== "call") {
      parts.push(part);
      continue;
    }
    const { call, check, repaired } = await checkCall(part, agent, io);
    parts.push(call);
    if (check) checks.push([call.id, check]);
    if (repaired) repairs.push({ type: "warning", code: "arguments_repaired", message: repaired });
  }
  // fromEntries defines own properties, even for an id such as "__proto__".
  return { parts, checks: checks.length > 0 ? Object.fromEntries(checks) : undefined, repairs };
}

/** What a check needs. */
export type CheckContext = Pick<Io, "agents" | "state" | "clock" | "context" | "findApprovalRule"> &
  Partial<Pick<Io, "hooks" | "maskError">>;

/** Checks a call with the user's arguments as if the model had written them. */
export async function checkEditedCall(call: CallPart, tool: Tool, context: CheckContext): Promise<CallCheck> {
  const valid = await validateInput(tool, call.input);
  if ("error" in valid) return valid;
  return (await withApproval({ call }, valid.value, { tool, io: context })).check ?? {};
}

type CheckedCall = { readonly call: CallPart; readonly check?: CallCheck; readonly repaired?: string };

async function checkCall(requested: CallPart, agent: Agent, io: Io): Promise<CheckedCall> {
  const tool = findTool(agent, requested.name);
  if (!tool)
    return {
      call: keepRawArguments(requested),
      check: { error: createUnknownToolError(requested.name, agent, io) },
    };
  const { id: callId, name } = requested;
  const describe = createThrownReport(io, { type: "tool", agent: agent.name, name, callId });
  const valid = await validateInput(tool, requested.raw ?? requested.input, describe);
  if ("value" in valid && !mayNeedApproval(tool)) return { call: requested };
  if ("value" in valid) return withApproval({ call: requested }, valid.value, { tool, io });
  const repair = await repairArguments(requested, tool.schema);
  if (!repair) return { call: keepRawArguments(requested), check: valid };
  const { raw: _raw, ...rest } = requested;
  const call = { ...rest, input: repair.input };
  const repaired = `The arguments of "${tool.name}" (${call.id}) were repaired: ${repair.repairs.join("; ")}.`;
  const revalid = await validateInput(tool, call.input);
  if ("error" in revalid) return { call: keepRawArguments(requested), check: revalid };
  return withApproval({ call, repaired }, revalid.value, { tool, io });
}

/** Whether the tool or the gate could ask for approval of a call. */
function mayNeedApproval(tool: Tool): boolean {
  return tool.needsApproval !== undefined || hasEffect(tool);
}

/** Truncates unusable arguments, which are kept for display only. */
function keepRawArguments(call: CallPart): CallPart {
  return call.raw === undefined ? call : { ...call, raw: truncateMessage(call.raw) };
}

/**
 * Requires approval if the tool or the gate asks for it, unless a rule of the user covers the call. Private data in the
 * arguments is searched for only if the user is about to be asked.
 */
async function withApproval(
  checked: CheckedCall,
  input: unknown,
  { tool, io }: { tool: Tool; io: CheckContext },
): Promise<CheckedCall> {
  const required = await requireApproval(checked, input, { tool, io });
  const approval = required.check?.approval;
  const { approvals } = io.state.run?.policy ?? defaultPolicy;
  if (!approval || approvals === "deny") return required;
  const scopes = [approval.always, approval.pattern].filter((scope) => scope !== undefined);
  const rule = scopes.length > 0 ? await io.findApprovalRule?.(scopes) : undefined;
  if (rule) return { ...checked, check: { rule: { id: rule.id, digest: approval.digest } } };
  const isAsked = approvals === "ask" || approval.because !== undefined;
  if (!isAsked || !(approval.because || isOutgoing(tool))) return required;
  const leaks = findLeaks(checked.call.input, tool.target?.(input), io.state);
  if (leaks.length === 0) return required;
  const reason = `${approval.reason} ${formatLeaks(leaks)}`;
  return { ...required, check: { approval: { ...approval, reason, leaks } } };
}

/** The tool's reason comes first, because it is more specific than the reason of the gate. */
async function requireApproval(
  checked: CheckedCall,
  input: unknown,
  { tool, io }: { tool: Tool; io: CheckContext },
): Promise<CheckedCall> {
  try {
    const approval = await evaluateApproval(tool, input, io);
    // Most calls have no effect: skip building the gate's input.
    const isChange = hasEffect(tool) && (tool.changes?.(input) ?? true);
    const gated = isChange ? toGateInput(tool, input, io) : undefined;
    const verdict = gated ? checkGate(gated) : allow;
    if (approval === false && verdict.verdict === "allow") return checked;
    const { reason: toolReason = "", ui } = approval === false ? {} : toApprovalRequest(tool, approval);
    const gateVerdict = verdict.verdict === "allow" ? undefined : verdict;
    const reason = [toolReason, gateVerdict?.reason ?? ""].filter((text) => text !== "").join(" ");
    const digest = await computeDigest(getRunId(io.state), tool, checked.call);
    const scopes = await computeScopes(checked.call, input, { tool, isGated: gateVerdict !== undefined });
    const because = gateVerdict && { because: gateVerdict.because };
    return { ...checked, check: { approval: { reason, digest, ...because, ...scopes, ...(ui && { ui }) } } };
  } catch (thrown) {
    const { id: callId, name } = checked.call;
    const agent = io.state.run?.agent ?? "";
    const describe = createThrownReport(io, { type: "tool", agent, name, callId });
    return { ...checked, check: { error: describe(thrown) } };
  }
}

/**
 * Returns what the user can allow for the whole session. After untrusted text that is a target that the user has seen; a
 * pattern only if the tool sends nothing, because the user has not seen the arguments that it leaves open.
 */
async function computeScopes(
  call: CallPart,
  input: unknown,
  { tool, isGated }: { readonly tool: Tool; readonly isGated: boolean },
): Promise<{ readonly always?: ApprovalScope; readonly pattern?: ApprovalScope }> {
  const target = tool.target?.(input) || undefined;
  const pattern = isGated && tool.effects !== "state" ? undefined : tool.pattern?.(input);
  const covered = target === undefined ? { input: call.input } : { target };
  return {
    ...(!(isGated && target === undefined) && { always: await computeScope(tool, covered) }),
    ...(pattern !== undefined && { pattern: await computeScope(tool, { pattern }) }),
  };
}

/**
 * Whether a call may hand its arguments to others. One that only changes the operator's own state keeps them: editing a
 * file that the model has read is no leak.
 */
function isOutgoing(tool: Tool): boolean {
  return tool.effects !== "state" || getLabels(tool).includes("untrusted");
}

/** Asks the tool whether the call needs approval. A tool that does not answer in time needs it. */
async function evaluateApproval(
  tool: Tool,
  input: unknown,
  { context, state, clock }: CheckContext,
): Promise<Approval> {
  const answer = tool.needsApproval?.(input, { context }) ?? false;
  if (!isPromiseLike(answer)) return answer;
  const ms = tool.timeoutMs ?? (state.run?.policy ?? defaultPolicy).toolTimeoutMs;
  const timeout = Promise.withResolvers<string>();
  const cancel = clock.after(ms, () =>
    timeout.resolve(`"${tool.name}" did not say within ${ms} ms whether it needs approval.`),
  );
  try {
    return (await Promise.race([answer, timeout.promise])) ?? false;
  } finally {
    cancel();
  }
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}

function toApprovalRequest(tool: Tool, approval: Approval): ApprovalRequest {
  const { reason, ui } = typeof approval === "object" ? approval : { reason: approval };
  const words = typeof reason === "string" ? reason.trim() : "";
  return { reason: words || `"${tool.name}" needs approval.`, ...(ui && { ui }) };
}

function toGateInput(tool: Tool, input: unknown, { agents, state }: CheckContext): GateInput {
  const agent = agents.get(state.run?.agent ?? "");
  const described = findNewDescriptions(agent?.tools.values() ?? [], state.labels);
  const labels = { ...state.labels, untrusted: [...described, ...state.labels.untrusted] };
  return {
    labels: withoutOwnDescriptions(labels, tool),
    tool,
    target: tool.target?.(input),
    // The prompt of a nested run was not written by the user.
    isNamed: (target) => isNamedBy(getRootState(state).history, target),
    policy: state.run?.policy ?? defaultPolicy,
  };
}

export function createUnknownToolError(name: string, agent: Agent, { state }: Pick<Io, "state">): ErrorData {
  const names = [...agent.tools.keys()];
  const quotedName = JSON.stringify(name.slice(0, 128));
  const shownNames = names.slice(0, 20).join(", ");
  const listed = names.length > 0 ? ` The tools are: ${shownNames}.` : " There are no tools.";
  const hasMore = splitTools(agent, state.run?.policy).deferred.size > 0;
  const toolList = hasMore ? ` Find the right one with ${searchToolsName}.` : listed;
  return toErrorData(
    "unknown_tool",
    `Unknown tool: no tool is named ${quotedName}.${suggestName(name, names) || toolList}`,
  );
}

/** `input` is an object, or the raw text of arguments that are not one. */
export async function validateInput(
  tool: Tool,
  input: unknown,
  describe: DescribeThrown = (thrown) => describeThrown(thrown, "tool_failed"),
): Promise<{ value: unknown } | { error: ErrorData }> {
  if (typeof input === "string") {
    const parsed = parseArguments(input);
    if (!parsed.ok) return rejectArguments(tool, parsed.problem);
  }
  try {
    // A copy, so that a tool that changes its input does not change the stored call.
    const result = await tool.schema.validate(cloneJson(input));
    if (result.valid) return { value: result.value };
    return rejectArguments(tool, result.issues.slice(0, 10).join("; "));
  } catch (thrown) {
    return { error: describe(thrown) };
  }
}

function rejectArguments({ name }: Tool, problem: string): { error: ErrorData } {
  const message = `Bad arguments for "${name}": ${problem}. Correct them and call again.`;
  return { error: toErrorData("bad_arguments", message) };
}
