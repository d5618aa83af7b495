// One grammar for a whole answer: reasoning, then text, and calls whose names and arguments match the tools. llama.cpp
// checks the token that the model wants first, so that free text costs next to nothing.
import type { JsonSchema, ToolChoice, ToolSpec } from "capstan";
import { createRules, type Rules, toChoice, toLiteral } from "../grammar/rules.ts";
import { addSchemaRules } from "../grammar/schema-rules.ts";
import type { ChatFormat } from "./chat-format.ts";
import { addTextRules } from "./text-rules.ts";

export type AnswerOptions = {
  readonly format: ChatFormat;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly output?: JsonSchema | undefined;
  /** `open`: the prompt ends within the reasoning. `none`: the answer has no reasoning. */
  readonly thought: "open" | "optional" | "none";
};

const space = "[ \\n]{0,2}";

/** Returns the grammar of an answer, or undefined if any text will do. Throws `model_rejected` for schemas without one. */
export function buildAnswerGrammar(options: AnswerOptions): string | undefined {
  const { format, output, toolChoice } = options;
  const tools = listAllowedTools(options);
  const isForced = tools.length > 0 && toolChoice !== "auto";
  const forbidsThought = options.thought === "none" && format.thought !== undefined;
  if (tools.length === 0 && !output && !forbidsThought) return undefined;
  const rules = createRules();
  const calls = tools.length > 0 ? addCalls(rules, tools, options) : undefined;
  const forbidden = format.thought ? [{ text: format.thought.prefix }] : [];
  const buildAnswer = (): string => {
    const forced = calls && `${space} ${toLiteral(format.call.trigger)} ${calls}`;
    if (isForced && forced) return forced;
    if (output) {
      const value = `${space} ${addSchemaRules(rules, output, "the answer")}`;
      return forced ? toChoice([value, forced]) : value;
    }
    const triggers = calls ? [{ text: format.call.trigger, next: calls }] : [];
    return addTextRules(rules, [...triggers, ...forbidden], true);
  };
  return rules.format(addThought(rules, rules.add(buildAnswer()), options));
}

function listAllowedTools({ tools, toolChoice }: AnswerOptions): readonly ToolSpec[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.tool) : tools;
}

function addThought(rules: Rules, answer: string, { format, thought }: AnswerOptions): string {
  if (!format.thought || thought === "none") return answer;
  const body = addTextRules(rules, [{ text: format.thought.suffix, next: answer }], false);
  return thought === "open" ? body : toChoice([`${toLiteral(format.thought.prefix)} ${body}`, answer]);
}

/** The rules after the trigger of the first call. A named tool is called once. */
function addCalls(rules: Rules, tools: readonly ToolSpec[], options: AnswerOptions): string {
  const { trigger, namePrefix, argumentsPrefix, suffix, separator } = options.format.call;
  const bodies = tools.map(({ name, input }) => {
    const value = addSchemaRules(rules, input, `the tool "${name}"`);
    return `${toLiteral(name + argumentsPrefix)} ${value} ${toLiteral(suffix)}`;
  });
  const call = rules.add(`${namePrefix ? `${toLiteral(namePrefix)} ` : ""}${toChoice(bodies)}`);
  if (!options.parallelToolCalls || typeof options.toolChoice === "object") return call;
  const between = separator.trim() === "" ? space : toLiteral(separator);
  return rules.add(`${call} ( ${between} ${toLiteral(trigger)} ${call} )*`);
}
