import { isInputRequiredResult, type Tool as McpTool } from "@modelcontextprotocol/client";
import { AgentError, type Json, type ToolContext, type ToolReturn } from "capstan";
import type { Calling, Connection } from "./connection.ts";
import type { Desk } from "./desk.ts";
import type { OpenCall, OpenCalls } from "./open-calls.ts";
import { toolReturn } from "./result.ts";
import { answered, fill, newRound, type Round } from "./rounds.ts";

/** What a call of a tool needs of its server. */
export type Service = { readonly connection: Connection; readonly desk: Desk; readonly calls: OpenCalls };

export type ServerCall = {
  readonly tool: McpTool;
  readonly input: Record<string, unknown>;
  /** Throws when the tool may not be called any more. */
  check(): void;
};

const mostRounds = 10;
const lostQuestion =
  "The answer came when the server no longer waited for it, because it had been started again. Call the tool again if it is still wanted.";

/** Calls a tool of a server. When the server wants to know something from a person, that question comes back. */
export async function callServer(
  service: Service,
  call: ServerCall,
  context: ToolContext,
): Promise<ToolReturn> {
  const { desk, calls } = service;
  const { signal, idempotencyKey } = context;
  const last = context.answers.at(-1);
  let open = calls.get(idempotencyKey);
  let round: Round | undefined;
  if (last?.state !== undefined) round = await answered(last.state as Round, last, { desk, signal });
  else if (last && !open) throw new AgentError("mcp_disconnected", lostQuestion, { retryable: false });
  else if (last) open?.answer(last);
  for (let rounds = 0; rounds < mostRounds; rounds++) {
    const filled = round && (await fill(round, { desk, signal }));
    if (filled && "ask" in filled) return filled;
    open ??= begin(service, call, { context, resumed: filled?.resumed });
    const next = await nextOf(open, service, context);
    if ("question" in next) return { ask: next.question };
    if (!isInputRequiredResult(next.result)) return toolReturn(next.result);
    round = newRound(next.result);
    open = undefined;
  }
  throw new AgentError(
    "mcp_protocol",
    `The server asked more than ${mostRounds} times before it gave a result.`,
  );
}

type Beginning = { readonly context: ToolContext; readonly resumed: Calling["resumed"] };

function begin(
  { calls, connection }: Service,
  { tool, input, check }: ServerCall,
  { context, resumed }: Beginning,
): OpenCall {
  return calls.begin(context.idempotencyKey, async (signal) => {
    // A server that had to be waited for may have come back with another tool of this name.
    await connection.client(signal);
    check();
    return connection.call(tool, input, {
      signal,
      onProgress: (progress) => context.progress(progress as Json),
      ...(resumed && { resumed }),
    });
  });
}

/** What comes next of a call that is open: it stays so only while its server waits for a person. */
async function nextOf(
  open: OpenCall,
  { calls }: Service,
  { signal, idempotencyKey }: ToolContext,
): ReturnType<OpenCall["next"]> {
  const abort = () => open.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let stays = false;
  try {
    if (signal.aborted) abort();
    const next = await open.next();
    stays = "question" in next;
    return next;
  } finally {
    signal.removeEventListener("abort", abort);
    if (!stays) calls.end(idempotencyKey);
  }
}
