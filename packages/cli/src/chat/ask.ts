import type { Json } from "capstan";
import { escapeInvisible, type PendingCall } from "capstan";
import { harmless, harmlessLine } from "../terminal/escape-terminal.ts";
import type { Key } from "../terminal/keys.ts";
import { cutLines, hanging, shortened, widthOf, wrapped } from "../terminal/wrap.ts";
import { typeIn } from "./prompt-for-value.ts";
import { answerOf, fieldsOf, jsonOr } from "./question-form.ts";
import { diffLines, proposedDiff } from "./tool-arguments.ts";
import type { View } from "./view.ts";

/** What the person says to a call that waits; `stop` ends the whole run. */
export type Decision =
  | { readonly type: "approve"; readonly value?: Json }
  | { readonly type: "always" }
  | { readonly type: "deny"; readonly reason?: string }
  | { readonly type: "answer"; readonly value: Json }
  | { readonly type: "stop" };

/** So long after the last key, one that is pressed is meant for the question and not for what was being typed. */
const pauseMs = 400;

/** Shows what a call wants, and gives what the person says to it. */
export async function ask(view: View, call: PendingCall, lastKeyAt: () => number): Promise<Decision> {
  if (call.needs === "answer") {
    view.print(details(view, call, `${harmlessLine(call.name)} is for you to do. What is its result?`));
    const typed = await typeIn(view, { label: "Result", hint: "Enter gives it · Esc stops the run" });
    return typed.type === "typed" ? { type: "answer", value: jsonOr(typed.text.trim()) } : { type: "stop" };
  }
  if (call.question) return answerQuestion(view, call);
  view.print(details(view, call, `Allow ${harmlessLine(call.name)}?`));
  return approval(view, call, lastKeyAt);
}

function details(view: View, call: PendingCall, title: string): string[] {
  const { style } = view;
  const room = view.columns() - 2;
  const say = (text: string) => wrapped(harmlessLine(text), room);
  const by = call.agent === undefined ? [] : say(`asked by the agent ${call.agent}`).map(style.dim);
  const why = call.needs === "answer" || call.reason === "" ? [] : say(call.reason);
  const because = (call.because ?? []).flatMap(({ tool, turn, input }) => {
    const origin = `${tool}, ${turn === 0 ? "from the start" : `turn ${turn}`}: ${input}`;
    return hanging(wrapped(escapeInvisible(harmlessLine(origin)), room - 2), "← ", "  ");
  });
  const diff = proposedDiff(call.input);
  const shown =
    diff === undefined
      ? harmless(call.shown).split("\n")
      : diffLines(diff.split("\n").map(escapeInvisible).join("\n"), style);
  const lines = shown.flatMap((line) => (diff === undefined ? cutLines(line, room - 2) : [line]));
  return [
    `${style.yellow("?")} ${style.bold(title)}`,
    ...[...by, ...why, ...because.map(style.yellow), ...lines.map((line) => `${style.dim("│")} ${line}`)].map(
      (line) => `  ${line}`,
    ),
  ];
}

function approval(view: View, call: PendingCall, lastKeyAt: () => number): Promise<Decision> {
  const { style } = view;
  // What a stranger's words may have caused is looked at each time.
  const isSuspicious = (call.because ?? []).length > 0;
  const openAt = Date.now() - lastKeyAt() < pauseMs * 3 ? Date.now() + pauseMs : 0;
  if (openAt > 0) setTimeout(view.redraw, pauseMs + 10).unref();
  const keys = [
    ["y", "allow"],
    ["n", "deny"],
    ...(isSuspicious ? [] : [["a", "always in this session"]]),
    ["e", "deny and say why"],
    ["Esc", "stop"],
  ];
  return new Promise((resolve) => {
    const decide = (decision: Decision) => {
      leave();
      resolve(decision);
    };
    const sayWhy = async () => {
      leave();
      const typed = await typeIn(view, {
        label: "Why not?",
        hint: "Enter denies with this reason · Esc goes back",
      });
      if (typed.type === "left") resolve(approval(view, call, () => 0));
      else if (typed.type === "stopped") resolve({ type: "stop" });
      else resolve({ type: "deny", ...(typed.text.trim() && { reason: typed.text.trim() }) });
    };
    const press = (key: Key) => {
      const name = key.type === "text" ? key.text.toLowerCase() : key.type === "press" ? key.name : "";
      if (name === "escape" || name === "ctrl+c") decide({ type: "stop" });
      else if (Date.now() < openAt) return;
      else if (name === "y") decide({ type: "approve" });
      else if (name === "n") decide({ type: "deny" });
      else if (name === "a" && !isSuspicious) decide({ type: "always" });
      else if (name === "e") void sayWhy();
    };
    const render = (columns: number) => {
      if (Date.now() < openAt) return { rows: [""] };
      const items = keys.map(([key, about]) => `${style.bold(key ?? "")} ${style.dim(about ?? "")}`);
      return { rows: inRows(items, columns - 2).map((line) => `  ${line}`) };
    };
    const leave = view.use({ press, render });
  });
}

/** As many in a row as there is room for. */
function inRows(items: readonly string[], columns: number): string[] {
  const rows: string[] = [];
  for (const item of items) {
    const longer = [...rows.slice(-1), item].join("   ");
    if (rows.length > 0 && widthOf(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(item);
  }
  return rows;
}

async function answerQuestion(view: View, call: PendingCall): Promise<Decision> {
  const { style } = view;
  const question = call.question;
  const words = wrapped(harmlessLine(question?.message ?? ""), view.columns() - 2);
  const url =
    question?.url === undefined ? [] : [style.underline(escapeInvisible(harmlessLine(question.url)))];
  view.print([
    ...hanging(words.map(style.bold), `${style.yellow("?")} `, "  "),
    `  ${style.dim(shortened(`asked by ${harmlessLine(call.name)}`, view.columns() - 2))}`,
    ...url.map((line) => `  ${line}`),
  ]);
  const values: [ReturnType<typeof fieldsOf>[number], Json | undefined][] = [];
  for (const field of fieldsOf(question?.schema)) {
    let problem = "";
    for (;;) {
      const optional = field.isRequired ? "" : "Enter alone leaves it out · ";
      const label = field.kind ? `${field.label} (${field.kind})` : field.label;
      const typed = await typeIn(view, { label, problem, hint: `${optional}Esc declines · Ctrl-C stops` });
      if (typed.type === "stopped") return { type: "stop" };
      if (typed.type === "left") return { type: "deny" };
      const read = field.read(typed.text);
      if ("problem" in read) {
        problem = read.problem;
        continue;
      }
      values.push([field, read.value]);
      break;
    }
  }
  return { type: "approve", value: answerOf(values) };
}
