import { AgentError, truncateMessage } from "../../base/errors.ts";
import { escapeInvisible, formatInput } from "../../base/escape-text.ts";
import { isRecord } from "../../base/json.ts";
import { toLimitedJson } from "../../kernel/calls/to-json.ts";
import type { ToolEffect } from "../../kernel/effect.ts";
import type { FactBody } from "../../kernel/event.ts";
import { getInput, type Io } from "../../kernel/io.ts";
import { computeExpiry } from "../../kernel/policy.ts";
import { getLabels } from "../../kernel/provenance.ts";
import { getRunId } from "../../kernel/state.ts";
import type { Answer, Question, Reads, Tool } from "../../kernel/tool.ts";
import { toSchema } from "../../schema/schema.ts";
import { computeDigest } from "./digest.ts";

const maxQuestions = 10;
const maxQuestionLength = 100_000;
const questionKeys: readonly string[] = ["message", "schema", "url", "state"];

/** Returns the question if a tool returned exactly `{ ask }`. Anything that only resembles it is an ordinary value. */
export function asQuestion(returned: unknown): Question | undefined {
  try {
    if (!isRecord(returned) || !isRecord(returned.ask) || Object.keys(returned).length > 1) return undefined;
    const { message, schema, url } = returned.ask;
    if (typeof message !== "string" || !Object.keys(returned.ask).every((key) => questionKeys.includes(key)))
      return undefined;
    if (schema !== undefined && !isRecord(schema)) return undefined;
    if (url !== undefined && typeof url !== "string") return undefined;
    return returned.ask as Question;
  } catch {
    return undefined; // a getter or a proxy that throws: serialized like any value, with the error noted
  }
}

/** The call that asks, and the labels of the stored results that its tool has read. */
type QuestionContext = {
  readonly effect: ToolEffect;
  readonly io: Io;
  readonly addedReads: ReadonlySet<Reads>;
};

/** Builds the fact that asks the user. Throws for an invalid question, which is a failure of the tool. */
export async function buildQuestionFact(
  returned: Question,
  tool: Tool,
  { effect, io, addedReads }: QuestionContext,
): Promise<FactBody> {
  const { callId, name } = effect;
  const number = (effect.asked?.length ?? 0) + 1;
  if (effect.isFallback) throw createQuestionError(tool, "it is the fallback tool of the run");
  if (number > maxQuestions)
    throw createQuestionError(tool, `it has asked ${maxQuestions} times in this call`);
  const { json, isCut } = toLimitedJson(await checkQuestionSchema(returned, tool), {
    characters: maxQuestionLength,
  });
  if (isCut)
    throw createQuestionError(
      tool,
      `the question is larger than ${maxQuestionLength} characters or too deep`,
    );
  const fullQuestion = json as unknown as Question;
  const question = io.mask?.(fullQuestion) ?? fullQuestion;
  const input = getInput(effect);
  const reads = [...new Set([...getLabels(tool), ...addedReads])];
  return {
    type: "approval_required",
    callId,
    name,
    input,
    shown: formatInput(input),
    reason: escapeInvisible(truncateMessage(question.message)),
    digest: await computeDigest(getRunId(io.state), tool, { id: callId, input, asked: [number, question] }),
    question,
    number,
    ...computeExpiry(io.state.run?.policy ?? {}, io.clock.now()),
    ...(reads.length > 0 && { reads }),
  };
}

/** Throws for a schema that does not work, because no answer could match it. */
async function checkQuestionSchema(returned: Question, tool: Tool): Promise<Question> {
  const question = { ...returned, message: returned.message.toWellFormed() };
  if (!returned.schema) return question;
  const schema = toSchema(returned.schema, { owner: `a question of "${tool.name}"` });
  await schema.validate(null); // some schema errors only surface when a value is validated
  return { ...question, schema: schema.json };
}

function createQuestionError(tool: Tool, reason: string): AgentError {
  return new AgentError("tool_failed", `"${tool.name}" cannot ask: ${reason}.`, { retryable: false });
}

/** Converts the user's replies to the answers passed to the tool. */
export function toAnswers(asked: NonNullable<ToolEffect["asked"]>): readonly Answer[] {
  return asked.map(({ question: { state }, reply }) => ({ ...reply, ...(state !== undefined && { state }) }));
}
