import type { FactBody } from "../event.ts";
import type { Policy } from "../policy.ts";
import type { Tool } from "../tool.ts";
import type { Io } from "./io.ts";
import { filterForModel } from "./outcome.ts";
import { truncateOutcome } from "./within-size.ts";

export type AnswerLimits = {
  readonly tool: Tool | undefined;
  readonly policy: Policy;
  readonly blobs: Pick<Io["blobs"], "put">;
};

type AnswerFact = Extract<FactBody, { type: "tool_call_result" }>;

/** What a client answers to a call, as the model gets to read it: no more of it than of what a tool gives itself. */
export async function truncateAnswer(
  answer: AnswerFact,
  { tool, policy, blobs }: AnswerLimits,
): Promise<AnswerFact> {
  const { result, data, status, error, message, ...rest } = answer;
  const outcome = {
    status,
    content: result,
    ...(data !== undefined && { data }),
    ...(error && { error }),
    ...(message !== undefined && { message }),
  };
  const { resultForModel = "full" } = tool ?? {};
  const view = filterForModel(outcome, { includeData: policy.includeToolData, resultForModel });
  const { content, ...fitted } = await truncateOutcome(
    view,
    tool?.maxResultSize ?? policy.maxToolResultSize,
    blobs,
  );
  return { ...rest, ...fitted, result: content };
}
