import type { Agent, ModelSettings, Result } from "capstan";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings, toRunOptions } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { resolveModelId } from "../runs/agent-resolver.ts";
import type { ClientResults, EphemeralSegment } from "../runs/ephemeral-runs.ts";
import { parseCallId } from "./call-ids.ts";
import { type ChatMessage, joinMessageText } from "./chat-messages.ts";
import { type ClientTool, createClientAgent } from "./client-agent.ts";
import { type ClientError, toClientError } from "./client-error.ts";
import { readClientHistory, toResultContent } from "./client-history.ts";

/** A request of a client that keeps the history, as chat completions and Anthropic's messages have it. */
export type ClientRunRequest = {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** Tools that the client runs. */
  readonly tools: readonly ClientTool[];
  readonly requiresTool: boolean;
  /** Required JSON Schema of the answer. */
  readonly output: object | undefined;
  readonly settings: ModelSettings;
};

export type ClientRun = {
  readonly segment: EphemeralSegment;
  /** The answer must match an output schema. */
  readonly isFormed: boolean;
};

/** Resumes the run that waits for the results in the request, or starts a run with the request's history. */
export async function startClientRun(
  request: ClientRunRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<ClientRun> {
  const { messages, tools, output } = request;
  const agent = createClientAgent(await resolveAgentModel(request.model, deployment), { tools, output });
  const entries = readClientHistory(messages, { caller, deployment, tools });
  const isFormed = agent.output !== undefined;
  const given = findToolResults(messages);
  const resumed = given && (await deployment.ephemeralRuns.resume(caller, given));
  if (resumed) return { segment: resumed, isFormed };
  const requested = toRunOptions(request.settings, deployment.settingsLimits);
  const settings = readRequestSettings(requested, caller, { agent, ...deployment });
  const policy = { ...requested.policy, ...(request.requiresTool && { requireToolFirst: true }) };
  const declared = new Set(tools.map(({ name }) => name));
  const run = { agent, entries, policy, ...settings, declared };
  return { segment: await deployment.ephemeralRuns.start(caller, run), isFormed };
}

async function resolveAgentModel(id: string, deployment: Deployment): Promise<Agent> {
  const { agent, model } = await resolveModelId(id, deployment);
  return deployment.resolveAgent(agent, model);
}

/** Returns the tool results at the end of a history, with the text after them, if all of them belong to one run. */
function findToolResults(messages: readonly ChatMessage[]): ClientResults | undefined {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const results = new Map<string, unknown>();
  const texts: string[] = [];
  let run: string | undefined;
  for (const message of messages.slice(last + 1)) {
    if (message.role === "user" && isTextContent(message))
      texts.push(joinMessageText(message.content, "A message"));
    else if (message.role === "tool" && texts.length === 0) {
      const call = parseCallId(message.tool_call_id);
      if (!call || (run ?? call.runId) !== call.runId) return undefined;
      run = call.runId;
      results.set(call.callId, toResultValue(message));
    } else return undefined;
  }
  return run === undefined ? undefined : { runId: run, results, text: texts.join("\n\n") };
}

function isTextContent({ content }: ChatMessage): boolean {
  return typeof content === "string" || (content ?? []).every(({ type }) => type === "text");
}

function toResultValue({ content, isError }: Extract<ChatMessage, { readonly role: "tool" }>): unknown {
  const result = toResultContent(content, "A result");
  if (isError) return { error: "The client's tool failed.", content: result };
  return typeof result === "string" ? result : { content: result };
}

/** Ends the run when its only reader is gone. */
export function cancelOnDisconnect({ signal }: Request, { cancel }: EphemeralSegment): void {
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

/** Returns why a run failed, for its caller. */
export function toRunFailure({ error, status, text, runId }: Result, caller: Caller): ClientError {
  return toClientError(error ?? { code: status, message: text }, caller, runId);
}
