import { callsOf, type Entry, plainText, textOf } from "../../history.ts";
import { canonical } from "../../json.ts";
import type { ModelRequest, ToolSpec } from "../../model.ts";
import { type Filled, fillArguments, type Input } from "./fill-arguments.ts";
import { bestTool, rankTools, type ToolMatch } from "./match-tool.ts";
import { readValue } from "./read-value.ts";
import { substitutes } from "./substitute.ts";
import { type Word, wordsOf } from "./words.ts";

/** One thing that a person asks for: the tool for it, and the words that say it. */
export type Wish = { readonly match: ToolMatch; readonly words: readonly Word[]; readonly given: Input };

/** The last thing the person said, and where it stands. */
export function lastSaid(history: readonly Entry[]): { readonly text: string; readonly at: number } {
  const at = history.findLastIndex((entry) => entry.type === "user");
  const entry = history[at];
  return { text: entry?.type === "user" ? plainText(entry.content) : "", at };
}

/** What a person wants, one tool each, in their order. What they said before counts when they go on from it. */
export function understand(request: Pick<ModelRequest, "history" | "tools">, depth = 0): Wish[] {
  const { history, tools } = request;
  const { text, at } = lastSaid(history);
  const before = history.slice(0, Math.max(0, at));
  const goesOn = continuation(text);
  if (goesOn === undefined || depth > 3) {
    const wishes = wishesIn(text, tools);
    if (!isReply(text, before) || wishes.some(({ match }) => (match.example?.said ?? 0) > 0)) return wishes;
    return answered(text, { history: before, tools }, depth) ?? wishes;
  }
  const { text: previous } = lastSaid(before);
  return goneOn(goesOn, previous, { history: before, tools }) ?? wishesIn(goesOn, tools);
}

/** "What about the edges?", "and the cafés?", "yes, the cats": the part that is new. */
function continuation(text: string): string | undefined {
  const found =
    /^\s*(?:and\s+|but\s+|so\s+)?(?:what|how)\s+about\s+(?<new>.+)$/isu.exec(text) ??
    /^\s*(?:yes|yeah|yep|sure|ok|okay|no)\b[\s,.!:;-]*(?<new>\S.*)$/isu.exec(text) ??
    /^\s*and\s+(?<new>.+)$/isu.exec(text);
  return found?.groups?.new;
}

/** A few words after a question of ours. */
function isReply(text: string, before: readonly Entry[]): boolean {
  const last = before.at(-1);
  return last?.type === "assistant" && textOf(last).includes("?") && wordsOf(text).length <= 5;
}

function answered(
  text: string,
  request: Pick<ModelRequest, "history" | "tools">,
  depth: number,
): Wish[] | undefined {
  const wishes = understand(request, depth + 1);
  const { history } = request;
  for (const [index, wish] of wishes.entries()) {
    const [missing] = fill(wish, history).missing;
    const value = missing && readValue(text.trim().replace(/[.!?]+$/u, ""), missing);
    if (missing && value !== undefined)
      return wishes.with(index, { ...wish, given: { ...wish.given, [missing.name]: value } });
  }
  return goneOn(text, lastSaid(history).text, request);
}

/** The previous sentence with the new words in the place of one of its own, where that makes sense. */
function goneOn(
  fresh: string,
  previous: string,
  { history, tools }: Pick<ModelRequest, "history" | "tools">,
): Wish[] | undefined {
  const past = history.flatMap((entry) => (entry.type === "assistant" ? callsOf(entry) : []));
  const done = new Set(past.map(({ name, input }) => canonical([name, input])));
  const lastInput = past.at(-1)?.input ?? {};
  let second: Wish[] | undefined;
  for (const text of substitutes(previous, fresh, lastInput)) {
    const wishes = wishesIn(text, tools);
    const isNew = wishes.some((wish) => {
      const { input, missing } = fill(wish, history);
      return missing.length === 0 && !done.has(canonical([wish.match.tool.name, input]));
    });
    if (!isNew) continue;
    if (wishes.some(({ match }) => (match.example?.said ?? 0) > 0)) return wishes;
    second ??= wishes;
  }
  return second;
}

export function fill({ match, words, given }: Wish, history: readonly Entry[]): Filled {
  const { input, missing } = fillArguments(match, words, history);
  return { input: { ...input, ...given }, missing: missing.filter(({ name }) => given[name] === undefined) };
}

function wishesIn(text: string, tools: readonly ToolSpec[]): Wish[] {
  const wishes: Wish[] = [];
  let open = "";
  for (const clause of clausesOf(text)) {
    const words = wordsOf(open + clause.text);
    const match = bestTool(words, tools);
    const last = wishes.at(-1);
    const isOwn = match && (!last || (match.example?.said ?? 1) > 0);
    if (isOwn) {
      wishes.push({ match, words, given: {} });
      open = "";
    } else if (last) {
      // Words that name no tool of their own belong to what came before: "bread and butter".
      const longer = [...last.words, ...wordsOf(clause.joint + clause.text)];
      wishes[wishes.length - 1] = { ...last, match: bestTool(longer, tools) ?? last.match, words: longer };
    } else open += `${clause.text} `;
  }
  const whole = bestTool(wordsOf(text), tools);
  return whole?.example && / and /u.test(whole.example.says)
    ? [{ match: whole, words: wordsOf(text), given: {} }]
    : wishes;
}

const mostClauses = 8;
const isInQuotes = (text: string): boolean => (text.match(/["“”]/gu) ?? []).length % 2 === 1;

function clausesOf(text: string): { readonly joint: string; readonly text: string }[] {
  const pieces = text.split(/((?<=[.?!;])\s+|,?\s+(?:and\s+then|then|and)\s+)/iu);
  const clauses: { joint: string; text: string }[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const piece = { joint: pieces[at - 1] ?? "", text: pieces[at] ?? "" };
    const last = clauses.at(-1);
    if (last && (clauses.length >= mostClauses || isInQuotes(last.text)))
      last.text += piece.joint + piece.text;
    else if (piece.text.trim() !== "") clauses.push(piece);
  }
  return clauses;
}

/** When a tool must be called: every tool, best first, for all that was said. */
export function anyWish({ history, tools }: Pick<ModelRequest, "history" | "tools">): Wish[] {
  const words = wordsOf(lastSaid(history).text);
  return rankTools(words, tools).map((match) => ({ match, words, given: {} }));
}
