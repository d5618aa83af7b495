import { escapeControls } from "../base/escape-text.ts";
import type { Json } from "../base/json.ts";
import type { LineChange } from "./diff-lines.ts";
import type { CallDifference, Difference, Pair, TurnDifference } from "./difference.ts";
import { formatDuration } from "./format-values.ts";

/** Formats a difference as text. `-` marks the left run, `+` the right one. */
export function formatDifference(difference: Difference): string {
  const { question, turns, answer, status, models, inputTokens, outputTokens, cost, ms } = difference;
  const lines = [
    ...(question ? ["Question", ...formatChanges(question)] : []),
    ...turns.flatMap(formatTurn),
    ...(answer ? ["Answer", ...formatChanges(answer)] : []),
    formatPair("Status", status, String),
    formatPair("Models", models, (names) => names.join(", ")),
    formatPair("Tokens in", inputTokens, String),
    formatPair("Tokens out", outputTokens, String),
    formatPair("Cost", cost, (dollars) => `$${dollars.toFixed(4)}`),
    formatPair("Time", ms, formatDuration),
  ];
  return `${difference.isSame ? "Both runs are identical.\n" : ""}${lines.join("\n")}\n`;
}

const sideLabels = { left: "only on the left", right: "only on the right" };

function formatTurn({ turn, type, text, calls }: TurnDifference): string[] {
  if (type === "same") return [`Turn ${turn}: same`];
  const title = type === "changed" ? `Turn ${turn}` : `Turn ${turn}: ${sideLabels[type]}`;
  return [title, ...(text ? formatChanges(text) : []), ...calls.flatMap(formatCall)];
}

function formatCall({ type, name, names, input, status, result }: CallDifference): string[] {
  const title = `  ${escapeControls(names ? `${names.left} → ${names.right}` : name)}`;
  if (type === "same") return [`${title}: same`];
  if (type !== "changed") return [`${title}: ${sideLabels[type]}`];
  const formatInput = (value: Json) => escapeControls(JSON.stringify(value));
  return [
    title,
    ...(input ? [`  - ${formatInput(input.left)}`, `  + ${formatInput(input.right)}`] : []),
    ...(status ? [`    ${formatPair("status", status, (value) => value || "no result")}`] : []),
    ...(result ? formatChanges(result) : []),
  ];
}

const lineMarkers = { same: " ", left: "-", right: "+" };

/** Returns the changed lines with one line of context. */
function formatChanges(lines: readonly LineChange[]): string[] {
  return lines.flatMap(({ type, line }, index) => {
    const isNear = [index - 1, index, index + 1].some(
      (neighbor) => (lines[neighbor]?.type ?? "same") !== "same",
    );
    return isNear ? [`  ${lineMarkers[type]} ${escapeControls(line)}`] : [];
  });
}

function formatPair<Value>(
  name: string,
  { left, right }: Pair<Value>,
  format: (value: Value) => string,
): string {
  const [before, after] = [format(left), format(right)];
  return before === after ? `${name}: ${before}` : `${name}: ${before} → ${after}`;
}
