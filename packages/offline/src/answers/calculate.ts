import type { ToolSpec } from "capstan";

const leadIn =
  /^(?:(?:please|what['’]?s|what (?:is|are|does)|how much (?:is|are|makes?)|calculate|compute|was ist|wie ?viel (?:ist|sind)|rechne|combien (?:font|fait)|calcule|cu[aá]nto (?:es|son)|quanto (?:fa|é|è))\s+)+/u;
const wordOperators: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b|\bmás\b/gu, "+"],
  [/\bminus\b|\bmenos\b|[−–]/gu, "-"],
  [/\b(?:multiplied by|times|mal|fois|por)\b|[×·]/gu, "*"],
  [/\b(?:divided by|over|geteilt durch|durch|divisé par|entre)\b|÷/gu, "/"],
  [/\bto the power of\b/gu, "^"],
  [/\bsquared\b/gu, "^2"],
  [/\bcubed\b/gu, "^3"],
  [/(?:%|\bpercent\b) of\b/gu, "/100*"],
  [/(?<=\d)\s*x\s*(?=\d)/gu, "*"],
];
const calculator = /calculat|arithmetic|\bmath|\bsums?\b|multipl|\badds? .*\bnumbers?\b/i;

/** Answers arithmetic, such as "What's 2+2?". Undefined for anything else, and if a tool is there for it. */
export function answerArithmetic(text: string, tools: readonly ToolSpec[]): string | undefined {
  const question = text
    .trim()
    .toLowerCase()
    .replace(/[?!.=\s]+$/u, "")
    .replace(leadIn, "");
  let expression = question;
  for (const [words, operator] of wordOperators) expression = expression.replace(words, operator);
  expression = expression.replace(/(?<=\d),(?=\d{3}(?!\d))/gu, "").replace(/\s+/gu, "");
  if (expression.length > 100 || !/\d[-+*/^]/u.test(expression) || !/^[-+*/^().\d]+$/u.test(expression))
    return undefined;
  if (tools.some(({ name, description }) => calculator.test(`${name} ${description}`))) return undefined;
  const value = evaluate(expression);
  if (value === undefined) return undefined;
  if (!Number.isFinite(value)) return `${question} has no result.`;
  return `${question} = ${Number(value.toPrecision(12))}`;
}

/** Evaluates an expression of numbers, operators and parentheses; undefined if it is not one. */
function evaluate(expression: string): number | undefined {
  const tokens = expression.match(/\d+(?:\.\d+)?|[-+*/^()]/gu) ?? [];
  if (tokens.join("") !== expression) return undefined;
  let at = 0;
  const takes = (...operators: readonly string[]) => operators.includes(tokens[at] ?? "") && tokens[at++];
  const readSum = (): number => {
    let value = readProduct();
    for (let operator = takes("+", "-"); operator; operator = takes("+", "-"))
      value += (operator === "+" ? 1 : -1) * readProduct();
    return value;
  };
  const readProduct = (): number => {
    let value = readPower();
    for (let operator = takes("*", "/"); operator; operator = takes("*", "/"))
      value = operator === "*" ? value * readPower() : value / readPower();
    return value;
  };
  const readPower = (): number => {
    if (takes("-")) return -readPower();
    const base = readOperand();
    return takes("^") ? base ** readPower() : base;
  };
  const readOperand = (): number => {
    if (!takes("(")) return Number(tokens[at++] ?? Number.NaN);
    const value = readSum();
    return takes(")") ? value : Number.NaN;
  };
  const value = readSum();
  return at < tokens.length || Number.isNaN(value) ? undefined : value;
}
