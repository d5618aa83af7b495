import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Agent, Json, Result } from "capstan";
import {
  createAgentRuns,
  type Exchange,
  type OpenedRun,
  type QueryInput,
  type RunContext,
} from "./agent-runs.ts";
import { findErrorCode, toCallError, toCallResult } from "./call-result.ts";
import {
  applyDecision,
  type CallReference,
  createElicitation,
  detectElicitation,
  type ElicitationSupport,
} from "./elicit-decision.ts";
import { createProgressReporter } from "./progress-reporter.ts";
import type { SessionKeys } from "./session-keys.ts";
import { buildWidgetMeta } from "./widget-resource.ts";

/** Shared by all calls of one client. */
export type CallContext = RunContext & {
  readonly server: Server;
  readonly codec: RequestStateCodec<WaitingState>;
  onError(error: Error): void;
  /** Whether results include their widgets. */
  readonly hasWidgets: boolean;
  /** Returns a result as the client may see it. */
  filterResult(result: Result): Result;
};

/** Signed state that the client sends back between the rounds of one call. */
export type WaitingState = {
  readonly runId: string;
  readonly asked: readonly CallReference[];
  readonly round: number;
  readonly progress: number;
};

export type ResumeInput = {
  readonly runId: string;
  readonly approve?: readonly string[];
  readonly deny?: readonly string[];
  readonly answers?: Readonly<Record<string, unknown>>;
};

type CallAnswer = CallToolResult | InputRequiredResult;

/** After this many questions the client gets a `runId` instead, before it gives up on its own. */
const maxRounds = 7;

export interface AgentCalls {
  query(agent: Agent, input: QueryInput, ctx: ServerContext): Promise<CallAnswer>;
  resume(input: ResumeInput, ctx: ServerContext): Promise<CallAnswer>;
}

export function createAgentCalls(context: CallContext): AgentCalls {
  const { keys, codec, server } = context;
  const runs = createAgentRuns(context);

  async function serve(
    ctx: ServerContext,
    open: (exchange: Exchange) => Promise<OpenedRun>,
  ): Promise<CallAnswer> {
    const waiting = ctx.mcpReq.requestState<WaitingState>();
    const { signal, release } = deriveSignal(ctx.mcpReq.signal);
    const exchange = { ctx, signal, progress: createProgressReporter(ctx, waiting?.progress) };
    try {
      const opened = await (waiting ? runs.reopen(waiting.runId, exchange) : open(exchange));
      const isOpen = waiting !== undefined && !applyAnswers(waiting, opened, ctx);
      const result = context.filterResult(await opened.handle);
      await exchange.progress.flush();
      // Do not repeat a question that the user has just dismissed.
      const round = isOpen ? maxRounds : (waiting?.round ?? 0);
      return (await createQuestion(result, { ...exchange, round })) ?? toRunResult(result, context);
    } catch (thrown) {
      await exchange.progress.flush();
      if (!findErrorCode(thrown)) context.onError(thrown as Error);
      return toCallError(thrown, {
        runId: waiting?.runId,
        formatMessage: (message) => replaceSessionKeys(message, keys),
      });
    } finally {
      release();
    }
  }

  async function createQuestion(
    result: Result,
    at: Exchange & { round: number },
  ): Promise<CallAnswer | undefined> {
    if (result.status !== "waiting" || at.round >= maxRounds) return undefined;
    const elicitation = detectElicitation(server, at.ctx);
    const calls: CallReference[] = [];
    const inputRequests: Record<string, InputRequest> = {};
    for (const call of result.pending) {
      const request = createElicitation(elicitation, call);
      if (!request) continue;
      inputRequests[getRequestKey(calls.length)] = request;
      calls.push({ callId: call.callId, ...(call.digest !== undefined && { digest: call.digest }) });
    }
    if (calls.length === 0) return undefined;
    const state = { runId: result.runId, asked: calls, round: at.round + 1, progress: at.progress.count() };
    return inputRequired({ inputRequests, requestState: await codec.mint(state, at.ctx) });
  }

  return {
    query: (agent, input, ctx) => serve(ctx, (exchange) => runs.start(agent, input, exchange)),
    resume: (input, ctx) =>
      serve(ctx, async (exchange) => {
        const opened = await runs.reopen(input.runId, exchange);
        applyResumeInput(input, opened, detectElicitation(server, ctx));
        return opened;
      }),
  };
}

/** Applies the user's answers to the run. Returns false if a call is still undecided. */
function applyAnswers(
  { asked }: WaitingState,
  { handle, pending }: OpenedRun,
  { mcpReq }: ServerContext,
): boolean {
  let isComplete = true;
  for (const [index, { callId, digest }] of asked.entries()) {
    const call = pending.find(
      (pendingCall) => pendingCall.callId === callId && pendingCall.digest === digest,
    );
    if (call && !applyDecision(handle, call, { of: mcpReq.inputResponses, key: getRequestKey(index) }))
      isComplete = false;
  }
  return isComplete;
}

/** Applies the arguments of `resume` to the run. */
function applyResumeInput(
  input: ResumeInput,
  { handle, pending }: OpenedRun,
  elicitation: ElicitationSupport,
): void {
  const { approve = [], deny = [], answers = {} } = input;
  for (const callId of deny) handle.deny(callId);
  for (const [callId, value] of [...approve.map((id) => [id] as const), ...Object.entries(answers)]) {
    const call = pending.find((pendingCall) => pendingCall.callId === callId);
    // A client that supports elicitation must ask its user: its model must not decide instead.
    if (call && createElicitation(elicitation, call)) continue;
    if (value === undefined) handle.approve(callId);
    else if (call?.question) handle.approve(callId, value as Json);
    else handle.answer(callId, value);
  }
}

/** Follows the request's signal until released: it also aborts when the server is closed after the response. */
function deriveSignal(request: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(request.reason);
  if (request.aborted) abort();
  else request.addEventListener("abort", abort, { once: true });
  return { signal: controller.signal, release: () => request.removeEventListener("abort", abort) };
}

const getRequestKey = (index: number): string => `call_${index}`;

const toRunResult = (result: Result, { keys, hasWidgets }: CallContext): CallToolResult => ({
  ...toCallResult(result, keys.toId(result.sessionId) ?? result.sessionId),
  ...(hasWidgets && buildWidgetMeta(result)),
});

/** Error messages of the core contain the session's key in the store. Clients know only the id. */
function replaceSessionKeys(message: string, keys: SessionKeys): string {
  return message.replaceAll(/"([^"]*)"/g, (_, key: string) => `"${keys.toId(key) ?? key}"`);
}
