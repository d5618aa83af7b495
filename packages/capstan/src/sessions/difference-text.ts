import { escapeControls } from "../escape-text.ts";
import type { Json } from "../json.ts";
import type { LineChange } from "./diff-lines.ts";
import type { CallDifference, Difference, Pair, TurnDifference } from "./difference.ts";
import { wordedDuration } from "./worded.ts";

/** A difference of two runs for people: `-` is the left one, `+` the right one. */
export function formatDifference(difference: Difference): string {
  const { question, turns, answer, status, models, inputTokens, outputTokens, cost, ms } = difference;
  const lines = [
    ...(question ? ["Question", ...changed(question)] : []),
    ...turns.flatMap(turnLines),
    ...(answer ? ["Answer", ...changed(answer)] : []),
    compared("Status", status, String),
    compared("Models", models, (names) => names.join(", ")),
    compared("Tokens in", inputTokens, String),
    compared("Tokens out", outputTokens, String),
    compared("Cost", cost, (dollars) => `$${dollars.toFixed(4)}`),
    compared("Time", ms, wordedDuration),
  ];
  return `${difference.isSame ? "Both runs said and did the same.\n" : ""}${lines.join("\n")}\n`;
}

const sides = { left: "only on the left", right: "only on the right" };

function turnLines({ turn, type, text, calls }: TurnDifference): string[] {
  if (type === "same") return [`Turn ${turn}: same`];
  const head = type === "changed" ? `Turn ${turn}` : `Turn ${turn}: ${sides[type]}`;
  return [head, ...(text ? changed(text) : []), ...calls.flatMap(callLines)];
}

function callLines({ type, name, names, input, status, result }: CallDifference): string[] {
  const title = `  ${escapeControls(names ? `${names.left} → ${names.right}` : name)}`;
  if (type === "same") return [`${title}: same`];
  if (type !== "changed") return [`${title}: ${sides[type]}`];
  const shown = (value: Json) => escapeControls(JSON.stringify(value));
  return [
    title,
    ...(input ? [`  - ${shown(input.left)}`, `  + ${shown(input.right)}`] : []),
    ...(status ? [`    ${compared("status", status, (value) => value || "no result")}`] : []),
    ...(result ? changed(result) : []),
  ];
}

const signs = { same: " ", left: "-", right: "+" };

/** Lines that changed, with one of the unchanged ones before and after. */
function changed(lines: readonly LineChange[]): string[] {
  return lines.flatMap(({ type, line }, index) => {
    const isNear = [index - 1, index, index + 1].some((at) => (lines[at]?.type ?? "same") !== "same");
    return isNear ? [`  ${signs[type]} ${escapeControls(line)}`] : [];
  });
}

function compared<Value>(name: string, { left, right }: Pair<Value>, show: (value: Value) => string): string {
  const [before, after] = [show(left), show(right)];
  return before === after ? `${name}: ${before}` : `${name}: ${before} → ${after}`;
}
