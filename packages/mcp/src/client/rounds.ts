import type { InputRequiredResult } from "@modelcontextprotocol/client";
import type { Answer, Json, Question } from "capstan";
import type { Calling } from "./connection.ts";
import type { Desk, ServerRequest } from "./desk.ts";

/**
 * A server of 2026 ends the call with its questions. They are answered one by one; then the call is made again with the
 * answers and the server's own state. All of it is kept with each question, so that it survives a restart.
 */
export type Round = {
  readonly requests: { readonly [key: string]: ServerRequest };
  readonly responses: { readonly [key: string]: Json };
  readonly requestState?: string;
  /** The request that a person is being asked about. */
  readonly asking?: string;
};

/** A question for a person, or all that the server wants to know. */
export type Filled = { readonly ask: Question } | { readonly resumed: Calling["resumed"] };

export function newRound({ inputRequests = {}, requestState }: InputRequiredResult): Round {
  return {
    requests: inputRequests as Round["requests"],
    responses: {},
    ...(requestState !== undefined && { requestState }),
  };
}

/** The round with a person's answer to what it was asking. */
export async function answered(round: Round, answer: Answer, { desk, signal }: Answering): Promise<Round> {
  const { asking = "", requests, responses, ...rest } = round;
  const request = requests[asking];
  const reply = request && desk.reply(request, signal);
  if (!reply) return round;
  const response = await ("question" in reply ? reply.answer(answer) : reply.result);
  return { ...rest, requests, responses: { ...responses, [asking]: response } };
}

export type Answering = { readonly desk: Desk; readonly signal: AbortSignal };

/** Answers what needs nobody, up to the first question that does. */
export async function fill(round: Round, { desk, signal }: Answering): Promise<Filled> {
  const responses: { [key: string]: Json } = { ...round.responses };
  for (const [key, request] of Object.entries(round.requests)) {
    if (Object.hasOwn(responses, key)) continue;
    const reply = desk.reply(request, signal);
    if ("question" in reply)
      return { ask: { ...reply.question, state: { ...round, responses, asking: key } as unknown as Json } };
    responses[key] = await reply.result;
  }
  const { requestState } = round;
  return { resumed: { inputResponses: responses, ...(requestState !== undefined && { requestState }) } };
}
