import type { InputRequiredResult } from "@modelcontextprotocol/client";
import type { Answer, Json, Question } from "capstan";
import type { CallOptions } from "../connection.ts";
import type { RequestHandler, ServerRequest } from "./request-handler.ts";

/**
 * A server of revision 2026-07-28 ends a call with its requests. They are answered one by one, then the call is repeated
 * with the answers and the server's state. The round is stored with each question, so that it survives a restart.
 */
export type InputRound = {
  readonly requests: { readonly [key: string]: ServerRequest };
  readonly responses: { readonly [key: string]: Json };
  readonly requestState?: string;
  /** The request that the user is being asked about. */
  readonly asking?: string;
};

/** A question for the user, or the answers to all of the server's requests. */
export type FillResult = { readonly ask: Question } | { readonly resumed: CallOptions["resumed"] };

export function createRound({ inputRequests = {}, requestState }: InputRequiredResult): InputRound {
  return {
    requests: inputRequests as InputRound["requests"],
    responses: {},
    ...(requestState !== undefined && { requestState }),
  };
}

/** Returns the round with the user's answer to its current request. */
export async function addAnswer(
  round: InputRound,
  answer: Answer,
  { requestHandler, signal }: RoundContext,
): Promise<InputRound> {
  const { asking = "", requests, responses, ...rest } = round;
  const request = requests[asking];
  const reply = request && requestHandler.handle(request, signal);
  if (!reply) return round;
  const response = await ("question" in reply ? reply.answer(answer) : reply.result);
  return { ...rest, requests, responses: { ...responses, [asking]: response } };
}

export type RoundContext = { readonly requestHandler: RequestHandler; readonly signal: AbortSignal };

/** Answers the requests in order, up to the first request that needs the user. */
export async function fillRound(
  round: InputRound,
  { requestHandler, signal }: RoundContext,
): Promise<FillResult> {
  const responses: { [key: string]: Json } = { ...round.responses };
  for (const [key, request] of Object.entries(round.requests)) {
    if (Object.hasOwn(responses, key)) continue;
    const reply = requestHandler.handle(request, signal);
    if ("question" in reply)
      return { ask: { ...reply.question, state: { ...round, responses, asking: key } as unknown as Json } };
    responses[key] = await reply.result;
  }
  const { requestState } = round;
  return { resumed: { inputResponses: responses, ...(requestState !== undefined && { requestState }) } };
}
