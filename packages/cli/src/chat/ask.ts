import type { Json } from "capstan";
import { escapeInvisible, type PendingCall } from "capstan";
import { describeScope } from "capstan/sessions";
import { escapeTerminal, escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { Key } from "../terminal/keys.ts";
import { breakLines, indentHanging, measureWidth, truncateColumns, wrapText } from "../terminal/wrap.ts";
import { type PreviewCall, promptForArguments } from "./edit-arguments.ts";
import { promptForValue } from "./prompt-for-value.ts";
import { buildAnswer, buildFields, parseJsonOrText } from "./question-form.ts";
import { buildProposedDiff, formatDiff, getScript, getShownDiff } from "./tool-arguments.ts";
import type { View } from "./view.ts";

/** The user's decision on a pending call; `stop` ends the whole run. */
export type Decision =
  | { readonly type: "approve"; readonly value?: Json; readonly input?: Json }
  | { readonly type: "always"; readonly covers: "call" | "pattern" }
  | { readonly type: "deny"; readonly reason?: string }
  | { readonly type: "answer"; readonly value: Json }
  | { readonly type: "stop" };

/** A key pressed sooner after the previous one belongs to interrupted typing, not to the question. */
const typingPauseMs = 400;

export type AskOptions = {
  readonly view: View;
  lastKeyAt(): number;
  readonly previewCall: PreviewCall;
};

/** Shows a pending call and returns the user's decision. */
export async function askAboutCall(call: PendingCall, options: AskOptions): Promise<Decision> {
  const { view } = options;
  if (call.needs === "answer") {
    view.print(
      formatDetails(view, call, `${escapeTerminalLine(call.name)} needs a result from you. What is it?`),
    );
    const typed = await promptForValue(view, { label: "Result", hint: "Enter submits · Esc stops the run" });
    return typed.type === "typed"
      ? { type: "answer", value: parseJsonOrText(typed.text.trim()) }
      : { type: "stop" };
  }
  if (call.question) return askQuestion(view, call);
  view.print(formatDetails(view, call, `Allow ${escapeTerminalLine(call.name)}?`));
  return askForApproval(call, options);
}

function formatDetails(view: View, call: PendingCall, title: string): string[] {
  const { style } = view;
  const room = view.getColumns() - 2;
  const say = (text: string) => wrapText(escapeTerminalLine(text), room);
  const by = call.agent === undefined ? [] : say(`requested by agent ${call.agent}`).map(style.dim);
  const reason = call.needs === "answer" || call.reason === "" ? [] : say(call.reason);
  const why = isSuspicious(call) ? reason.map(style.yellow) : reason;
  const diff = getShownDiff(call.ui) ?? buildProposedDiff(call.input);
  const shown =
    diff === undefined
      ? escapeTerminal(getScript(call.input) ?? call.shown).split("\n")
      : formatDiff(diff.split("\n").map(escapeInvisible).join("\n"), style);
  const lines = shown.flatMap((line) => (diff === undefined ? breakLines(line, room - 2) : [line]));
  const always = [
    ...(call.always ? say(`always: ${describeScope(call.name, call.always)}`) : []),
    ...(call.pattern ? say(`pattern: ${describeScope(call.name, call.pattern)}`) : []),
  ].map(style.dim);
  return [
    `${style.yellow("?")} ${style.bold(title)}`,
    ...[...by, ...why, ...lines.map((line) => `${style.dim("│")} ${line}`), ...always].map(
      (line) => `  ${line}`,
    ),
  ];
}

/** Whether untrusted content may have caused the call. Such a call always needs a decision. */
function isSuspicious({ because = [] }: PendingCall): boolean {
  return because.length > 0;
}

/** Asks about a call, or about its preview with the `input` that the user has changed. */
function askForApproval(call: PendingCall, options: AskOptions, input?: Json): Promise<Decision> {
  const { view, lastKeyAt } = options;
  const { style } = view;
  const canAllowAlways = call.always !== undefined;
  const canAllowPattern = call.pattern !== undefined;
  const openAt = performance.now() - lastKeyAt() < typingPauseMs * 3 ? performance.now() + typingPauseMs : 0;
  if (openAt > 0) setTimeout(view.redraw, typingPauseMs + 10).unref();
  const keys = [
    ["y", "allow"],
    ["n", "deny"],
    ...(canAllowAlways ? [["a", "always in this session"]] : []),
    ...(canAllowPattern ? [["p", "always for the pattern"]] : []),
    ["e", "edit"],
    ["r", "deny and say why"],
    ["Esc", "stop"],
  ];
  const askAgain = () => askForApproval(call, { ...options, lastKeyAt: () => 0 }, input);
  return new Promise((resolve) => {
    const decide = (decision: Decision) => {
      leave();
      resolve(decision);
    };
    const edit = async () => {
      leave();
      const before = { ...call, input: input ?? call.input };
      const edited = await promptForArguments(view, before, options.previewCall);
      if (edited.type === "left") resolve(askAgain());
      else resolve(edited.type === "stopped" ? { type: "stop" } : askAboutEdit(edited, options));
    };
    const sayWhy = async () => {
      leave();
      const typed = await promptForValue(view, {
        label: "Why not?",
        hint: "Enter denies with this reason · Esc goes back",
      });
      if (typed.type === "left") resolve(askAgain());
      else if (typed.type === "stopped") resolve({ type: "stop" });
      else resolve({ type: "deny", ...(typed.text.trim() && { reason: typed.text.trim() }) });
    };
    const press = (key: Key) => {
      const name = key.type === "text" ? key.text.toLowerCase() : key.type === "press" ? key.name : "";
      if (name === "escape" || name === "ctrl+c") decide({ type: "stop" });
      else if (performance.now() < openAt) return;
      else if (name === "y") decide({ type: "approve", ...(input !== undefined && { input }) });
      else if (name === "n") decide({ type: "deny" });
      else if (name === "a" && canAllowAlways) decide({ type: "always", covers: "call" });
      else if (name === "p" && canAllowPattern) decide({ type: "always", covers: "pattern" });
      else if (name === "e") void edit();
      else if (name === "r") void sayWhy();
    };
    const render = (columns: number) => {
      if (performance.now() < openAt) return { rows: [""] };
      const items = keys.map(([key, about]) => `${style.bold(key ?? "")} ${style.dim(about ?? "")}`);
      return { rows: arrangeInRows(items, columns - 2).map((line) => `  ${line}`) };
    };
    const leave = view.pushMode({ pressKey: press, render });
  });
}

/** Shows a call with the user's changes, and what they have changed about its risks, before it is allowed. */
function askAboutEdit(
  { preview, input }: { readonly preview: PendingCall; readonly input: Json },
  options: AskOptions,
): Promise<Decision> {
  const { view } = options;
  // An edit is for this call: a rule would be about the arguments of the model.
  const { always: _always, pattern: _pattern, ...call } = preview;
  view.print(formatDetails(view, call, `Allow ${escapeTerminalLine(call.name)} with your changes?`));
  return askForApproval(call, { ...options, lastKeyAt: () => 0 }, input);
}

/** Puts as many items in a row as fit. */
function arrangeInRows(items: readonly string[], columns: number): string[] {
  const rows: string[] = [];
  for (const item of items) {
    const longer = [...rows.slice(-1), item].join("   ");
    if (rows.length > 0 && measureWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(item);
  }
  return rows;
}

async function askQuestion(view: View, call: PendingCall): Promise<Decision> {
  const { style } = view;
  const question = call.question;
  const words = wrapText(escapeTerminalLine(question?.message ?? ""), view.getColumns() - 2);
  const url =
    question?.url === undefined ? [] : [style.underline(escapeInvisible(escapeTerminalLine(question.url)))];
  view.print([
    ...indentHanging(words.map(style.bold), `${style.yellow("?")} `, "  "),
    `  ${style.dim(truncateColumns(`asked by ${escapeTerminalLine(call.name)}`, view.getColumns() - 2))}`,
    ...url.map((line) => `  ${line}`),
  ]);
  const values: [ReturnType<typeof buildFields>[number], Json | undefined][] = [];
  for (const field of buildFields(question?.schema)) {
    let problem = "";
    for (;;) {
      const optional = field.isRequired ? "" : "Enter skips · ";
      const label = field.kind ? `${field.label} (${field.kind})` : field.label;
      const typed = await promptForValue(view, {
        label,
        problem,
        hint: `${optional}Esc declines · Ctrl-C stops`,
      });
      if (typed.type === "stopped") return { type: "stop" };
      if (typed.type === "left") return { type: "deny" };
      const read = field.parse(typed.text);
      if ("problem" in read) {
        problem = read.problem;
        continue;
      }
      values.push([field, read.value]);
      break;
    }
  }
  return { type: "approve", value: buildAnswer(values) };
}
