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
import { agentRuns, type Exchange, type OpenedRun, type QueryInput, type RunSetting } from "./agent-runs.ts";
import { type AskedCall, type Asking, askingOf, decide, questionTo } from "./asking.ts";
import { callError, callResult, codeOf } from "./call-result.ts";
import { progress } from "./progress.ts";
import type { SessionKeys } from "./session-keys.ts";

/** What one client's calls share. */
export type CallSetting = RunSetting & {
  readonly server: Server;
  readonly codec: RequestStateCodec<Waiting>;
  onError(error: Error): void;
};

/** What a client carries between the rounds of one call, signed. */
export type Waiting = {
  readonly runId: string;
  readonly asked: readonly AskedCall[];
  readonly round: number;
  readonly progress: number;
};

export type ResumeInput = {
  readonly runId: string;
  readonly approve?: readonly string[];
  readonly deny?: readonly string[];
  readonly answers?: Readonly<Record<string, unknown>>;
};

type Answer = CallToolResult | InputRequiredResult;

/** After so many questions the client gets a handle instead: it would give up by itself soon. */
const mostRounds = 7;

/** The calls that clients can make to agents. */
export interface AgentCalls {
  query(agent: Agent, input: QueryInput, ctx: ServerContext): Promise<Answer>;
  resume(input: ResumeInput, ctx: ServerContext): Promise<Answer>;
}

export function agentCalls(setting: CallSetting): AgentCalls {
  const { keys, codec, server } = setting;
  const runs = agentRuns(setting);

  /** One request of a client, from its first word to the answer. */
  async function serve(
    ctx: ServerContext,
    open: (exchange: Exchange) => Promise<OpenedRun>,
  ): Promise<Answer> {
    const waiting = ctx.mcpReq.requestState<Waiting>();
    const { signal, release } = whileServing(ctx.mcpReq.signal);
    const exchange = { ctx, signal, told: progress(ctx, waiting?.progress) };
    try {
      const opened = await (waiting ? runs.reopen(waiting.runId, exchange) : open(exchange));
      const isOpen = waiting !== undefined && !heard(waiting, opened, ctx);
      const result = await opened.handle;
      await exchange.told.sent();
      // Whoever has just been asked and left it open is not asked again at once.
      const round = isOpen ? mostRounds : (waiting?.round ?? 0);
      return (await question(result, { ...exchange, round })) ?? shown(result, keys);
    } catch (thrown) {
      await exchange.told.sent();
      if (!codeOf(thrown)) setting.onError(thrown as Error);
      return callError(thrown, { runId: waiting?.runId, reworded: (message) => withOwnIds(message, keys) });
    } finally {
      release();
    }
  }

  async function question(result: Result, at: Exchange & { round: number }): Promise<Answer | undefined> {
    if (result.status !== "waiting" || at.round >= mostRounds) return undefined;
    const asking = askingOf(server, at.ctx);
    const asked: AskedCall[] = [];
    const inputRequests: Record<string, InputRequest> = {};
    for (const call of result.pending) {
      const request = questionTo(asking, call);
      if (!request) continue;
      inputRequests[keyOf(asked.length)] = request;
      asked.push({ callId: call.callId, ...(call.digest !== undefined && { digest: call.digest }) });
    }
    if (asked.length === 0) return undefined;
    const state = { runId: result.runId, asked, round: at.round + 1, progress: at.told.count() };
    return inputRequired({ inputRequests, requestState: await codec.mint(state, at.ctx) });
  }

  return {
    query: (agent, input, ctx) => serve(ctx, (exchange) => runs.start(agent, input, exchange)),
    resume: (input, ctx) =>
      serve(ctx, async (exchange) => {
        const opened = await runs.reopen(input.runId, exchange);
        applied(input, opened, askingOf(server, ctx));
        return opened;
      }),
  };
}

/** Does to the run what the user answered; false when anything was left open. */
function heard({ asked }: Waiting, { handle, pending }: OpenedRun, { mcpReq }: ServerContext): boolean {
  let isAllHeard = true;
  for (const [index, { callId, digest }] of asked.entries()) {
    const call = pending.find((one) => one.callId === callId && one.digest === digest);
    if (call && !decide(handle, call, { of: mcpReq.inputResponses, key: keyOf(index) })) isAllHeard = false;
  }
  return isAllHeard;
}

/** Does to the run what the arguments of `resume` say. */
function applied(input: ResumeInput, { handle, pending }: OpenedRun, asking: Asking): void {
  const { approve = [], deny = [], answers = {} } = input;
  for (const callId of deny) handle.deny(callId);
  for (const [callId, value] of [...approve.map((id) => [id] as const), ...Object.entries(answers)]) {
    const call = pending.find((one) => one.callId === callId);
    // A client that can ask its user is made to: its model must not answer in the user's place.
    if (call && questionTo(asking, call)) continue;
    if (value === undefined) handle.approve(callId);
    else if (call?.question) handle.approve(callId, value as Json);
    else handle.answer(callId, value);
  }
}

/** A request's signal until it is answered: it also goes off when what served the request is closed behind it. */
function whileServing(request: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(request.reason);
  if (request.aborted) abort();
  else request.addEventListener("abort", abort, { once: true });
  return { signal: controller.signal, release: () => request.removeEventListener("abort", abort) };
}

const keyOf = (index: number): string => `call_${index}`;

const shown = (result: Result, keys: SessionKeys): CallToolResult =>
  callResult(result, keys.idOf(result.sessionId) ?? result.sessionId);

/** Errors of the core name sessions by their key in the store, which means nothing to a client. */
function withOwnIds(message: string, keys: SessionKeys): string {
  return message.replaceAll(/"([^"]*)"/g, (_, key: string) => `"${keys.idOf(key) ?? key}"`);
}
