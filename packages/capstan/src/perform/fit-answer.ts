import type { FactBody } from "../event.ts";
import type { Policy } from "../policy.ts";
import type { Tool } from "../tool.ts";
import type { Io } from "./io.ts";
import { modelView } from "./outcome.ts";
import { withinSize } from "./within-size.ts";

export type AnsweredCall = {
  readonly tool: Tool | undefined;
  readonly policy: Policy;
  readonly blobs: Pick<Io["blobs"], "put">;
};

type Answer = Extract<FactBody, { type: "tool_call_result" }>;

/** What a client answers to a call, as the model gets to read it: no more of it than of what a tool gives itself. */
export async function fitAnswer(answer: Answer, { tool, policy, blobs }: AnsweredCall): Promise<Answer> {
  const { result, data, status, error, message, ...rest } = answer;
  const outcome = {
    status,
    content: result,
    ...(data !== undefined && { data }),
    ...(error && { error }),
    ...(message !== undefined && { message }),
  };
  const { resultForModel = "full" } = tool ?? {};
  const view = modelView(outcome, { includeData: policy.includeToolData, resultForModel });
  const { content, ...fitted } = await withinSize(
    view,
    tool?.maxResultSize ?? policy.maxToolResultSize,
    blobs,
  );
  return { ...rest, ...fitted, result: content };
}
