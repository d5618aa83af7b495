import {
  type CallToolResult,
  isInputRequiredResult,
  type Tool as McpTool,
} from "@modelcontextprotocol/client";
import { AgentError, type Json, type ToolContext, type ToolReturn } from "capstan";
import { addAppHint } from "../apps/app-hint.ts";
import { readAppMetadata } from "../apps/app-metadata.ts";
import type { CallOptions, Connection } from "../connection.ts";
import { addAnswer, createRound, fillRound, type InputRound } from "../requests/input-rounds.ts";
import type { OpenCall, OpenCalls } from "../requests/open-calls.ts";
import type { RequestHandler } from "../requests/request-handler.ts";
import { toToolReturn } from "./tool-result.ts";

export type ServerService = {
  readonly connection: Connection;
  readonly requestHandler: RequestHandler;
  readonly calls: OpenCalls;
};

export type ServerCall = {
  readonly tool: McpTool;
  readonly input: Record<string, unknown>;
  /** Throws if the tool may no longer be called. */
  assertTrusted(): void;
};

const maxRounds = 10;
const lostQuestionMessage =
  "The server restarted before the answer arrived. Call the tool again if it is still needed.";

/** Calls a tool. If the server asks the user something, returns that question. */
export async function callTool(
  service: ServerService,
  call: ServerCall,
  context: ToolContext,
): Promise<ToolReturn> {
  const { requestHandler, calls } = service;
  const { signal, idempotencyKey } = context;
  const lastAnswer = context.answers.at(-1);
  let openCall = calls.get(idempotencyKey);
  let round: InputRound | undefined;
  if (lastAnswer?.state !== undefined)
    round = await addAnswer(lastAnswer.state as InputRound, lastAnswer, { requestHandler, signal });
  else if (lastAnswer && !openCall)
    throw new AgentError("mcp_disconnected", lostQuestionMessage, { retryable: false });
  else if (lastAnswer) openCall?.answer(lastAnswer);
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    const filled = round && (await fillRound(round, { requestHandler, signal }));
    if (filled && "ask" in filled) return filled;
    openCall ??= beginServerCall(service, call, { context, resumed: filled?.resumed });
    const next = await waitForNext(openCall, service, context);
    if ("question" in next) return { ask: next.question };
    if (!isInputRequiredResult(next.result)) return presentResult(next.result, call.tool, service);
    round = createRound(next.result);
    openCall = undefined;
  }
  throw new AgentError(
    "mcp_protocol",
    `The server asked for input more than ${maxRounds} times without returning a result.`,
  );
}

function presentResult(result: CallToolResult, tool: McpTool, { connection }: ServerService): ToolReturn {
  const output = toToolReturn(result);
  const { uri } = readAppMetadata(tool);
  return uri === undefined ? output : addAppHint(output, { server: connection.name, uri }, result);
}

type StartOptions = { readonly context: ToolContext; readonly resumed: CallOptions["resumed"] };

function beginServerCall(
  { calls, connection }: ServerService,
  { tool, input, assertTrusted }: ServerCall,
  { context, resumed }: StartOptions,
): OpenCall {
  return calls.start(context.idempotencyKey, async (signal) => {
    // After a restart the server may have a different tool of this name.
    await connection.client(signal);
    assertTrusted();
    return connection.call(tool, input, {
      signal,
      onProgress: (progress) => context.progress(progress as Json),
      ...(resumed && { resumed }),
    });
  });
}

/** Waits for the result or a question. The call stays open only while the server waits for the user. */
async function waitForNext(
  openCall: OpenCall,
  { calls }: ServerService,
  { signal, idempotencyKey }: ToolContext,
): ReturnType<OpenCall["next"]> {
  const abort = () => openCall.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let staysOpen = false;
  try {
    if (signal.aborted) abort();
    const next = await openCall.next();
    staysOpen = "question" in next;
    return next;
  } finally {
    signal.removeEventListener("abort", abort);
    if (!staysOpen) calls.end(idempotencyKey);
  }
}
