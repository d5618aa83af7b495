import type { EvalCase, ExpectedCall } from "capstan/evals";

/** Formats the input of a case for one line: the text, or the last message of a conversation. */
export function formatCaseInput(input: EvalCase["input"]): string {
  if (typeof input === "string") return input;
  const last: unknown = input.at(-1);
  const content: unknown = Reflect.get(Object(last), "content") ?? Reflect.get(Object(last), "text");
  return typeof content === "string" ? content : JSON.stringify(last);
}

/** Formats any value as text: texts as they are, others as JSON. */
export function formatCaseValue(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function formatExpectedCall(call: ExpectedCall): string {
  if (typeof call === "string") return call;
  return call.input === undefined ? call.name : `${call.name}(${JSON.stringify(call.input)})`;
}

export const formatScore = (value: number): string => value.toFixed(2);
export const formatPercent = (rate: number): string => `${Math.round(rate * 1000) / 10} %`;

export function formatCaseCost(cost: number): string {
  if (cost === 0) return "free";
  return cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`;
}
