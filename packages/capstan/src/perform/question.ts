import type { ToolEffect } from "../effect.ts";
import { AgentError, truncateMessage } from "../errors.ts";
import { escapeInvisible, formatInput } from "../escape-text.ts";
import type { FactBody } from "../event.ts";
import { isRecord } from "../json.ts";
import { getLabels } from "../labels.ts";
import { toSchema } from "../schema/schema.ts";
import type { Answer, Question, Tool } from "../tool.ts";
import { computeDigest } from "./digest.ts";
import { getInput, getRunId, type Io } from "./io.ts";
import { toLimitedJson } from "./to-json.ts";

const maxQuestions = 10;
const maxQuestionLength = 100_000;
const keys: readonly string[] = ["message", "schema", "url", "state"];

/** The question that a tool returned: `{ ask }` and nothing else. Anything that only resembles it is the tool's own value. */
export function asQuestion(returned: unknown): Question | undefined {
  try {
    if (!isRecord(returned) || !isRecord(returned.ask) || Object.keys(returned).length > 1) return undefined;
    const { message, schema, url } = returned.ask;
    if (typeof message !== "string" || !Object.keys(returned.ask).every((key) => keys.includes(key)))
      return undefined;
    if (schema !== undefined && !isRecord(schema)) return undefined;
    if (url !== undefined && typeof url !== "string") return undefined;
    return returned.ask as Question;
  } catch {
    return undefined; // a getter or a proxy that throws: the value is serialised with that said
  }
}

/** The fact that a person is asked. Throws when the question cannot be put to anybody: that is a failure of the tool. */
export async function buildQuestionFact(
  asked: Question,
  tool: Tool,
  { effect, io }: { readonly effect: ToolEffect; readonly io: Io },
): Promise<FactBody> {
  const { callId, name } = effect;
  const number = (effect.asked?.length ?? 0) + 1;
  if (effect.isFallback) throw createQuestionError(tool, "it is the last resort of the run");
  if (number > maxQuestions)
    throw createQuestionError(tool, `it has asked ${maxQuestions} times in this call`);
  const { json, isCut } = toLimitedJson(await checkQuestionSchema(asked, tool), {
    characters: maxQuestionLength,
  });
  if (isCut)
    throw createQuestionError(
      tool,
      `the question is larger than ${maxQuestionLength} characters or too deep`,
    );
  const whole = json as unknown as Question;
  const question = io.mask?.(whole) ?? whole;
  const input = getInput(effect);
  const reads = getLabels(tool);
  return {
    type: "approval_required",
    callId,
    name,
    input,
    shown: formatInput(input),
    reason: escapeInvisible(truncateMessage(question.message)),
    digest: await computeDigest(getRunId(io), tool, { id: callId, input, asked: [number, question] }),
    question,
    number,
    ...(reads.length > 0 && { reads }),
  };
}

/** With a schema that is known to work: nobody could answer the other. */
async function checkQuestionSchema(asked: Question, tool: Tool): Promise<Question> {
  const question = { ...asked, message: asked.message.toWellFormed() };
  if (!asked.schema) return question;
  const schema = toSchema(asked.schema, { owner: `a question of "${tool.name}"` });
  await schema.validate(null); // some faults of a schema only show with a value
  return { ...question, schema: schema.json };
}

function createQuestionError(tool: Tool, why: string): AgentError {
  return new AgentError("tool_failed", `"${tool.name}" cannot ask: ${why}.`, { retryable: false });
}

/** What people said, as the tool gets it. */
export function toAnswers(asked: NonNullable<ToolEffect["asked"]>): readonly Answer[] {
  return asked.map(({ question: { state }, reply }) => ({ ...reply, ...(state !== undefined && { state }) }));
}
