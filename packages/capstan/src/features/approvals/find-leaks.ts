import { quoteUntrusted } from "../../base/escape-text.ts";
import type { Leak } from "../../kernel/call-check.ts";
import { type Entry, type ResultEntry, toPlainText } from "../../kernel/history.ts";
import { getProvenance } from "../../kernel/provenance.ts";
import type { State } from "../../kernel/state.ts";
import { getRootState } from "../nested/nested-state.ts";
import { findPieces, foldText, indexArguments, type Piece } from "./find-pieces.ts";

/** Enough to explain an approval. */
const maxLeaks = 4;
/** Matches that are compared with the user's words. */
const maxCandidates = 20;
/** The newest texts are searched first; older ones beyond this limit are not. */
const maxPrivateLength = 1_000_000;
/** Characters shown at each end of a piece. */
const maxShownLength = 6;

type PrivateText = Omit<Leak, "shown"> & { readonly text: string };

/**
 * Finds private data in the arguments of a call, longest piece first, with the call it was read with. Values that the
 * user wrote are not leaks, nor is the target as a whole, which the user sees anyway. Never throws.
 */
export function findLeaks(input: unknown, target: string | undefined, state: State): readonly Leak[] {
  const index = indexArguments(input);
  const found = new Map<string, Piece & PrivateText>();
  for (const source of index.size > 0 ? listPrivateTexts(state) : [])
    for (const piece of findPieces(source.text, index))
      if (!found.has(piece.folded)) found.set(piece.folded, { ...source, ...piece });
  const candidates = [...found.values()].sort((left, right) => right.folded.length - left.folded.length);
  const known = listUserTexts(getRootState(state).history);
  const shown = foldText(target ?? "");
  const leaks: Leak[] = [];
  for (const { tool, turn, text, folded } of candidates.slice(0, maxCandidates)) {
    if (leaks.length === maxLeaks) break;
    if (folded === shown || known.some((other) => other.includes(folded))) continue;
    known.push(folded);
    leaks.push({ tool, turn, shown: maskPiece(text) });
  }
  return leaks;
}

function listUserTexts(history: readonly Entry[]): string[] {
  return history.flatMap((entry) =>
    entry.type === "user" && getProvenance(entry) === "user" ? foldText(toPlainText(entry.content)) : [],
  );
}

/** Lists the private texts that the model of a run may know, newest first, including its callers' texts. */
function* listPrivateTexts(state: State): Generator<PrivateText> {
  let remaining = maxPrivateLength;
  for (let current: State | undefined = state; current; current = current.run?.parent?.state)
    for (const source of listOwnTexts(current)) {
      yield { ...source, text: source.text.slice(0, remaining) };
      remaining -= source.text.length;
      if (remaining <= 0) return;
    }
}

function* listOwnTexts({ history, run, labels }: State): Generator<PrivateText> {
  let turn = run?.turn ?? 0;
  for (const { result } of run?.currentTurn?.calls.values() ?? [])
    if (result && isPrivate(result)) yield toPrivateText(result, turn);
  for (const entry of history.toReversed()) {
    // Each turn adds one message, before its results. Turns of earlier runs are not counted.
    if (entry.type === "assistant") turn -= 1;
    else if (entry.type === "result") {
      if (isPrivate(entry)) yield toPrivateText(entry, Math.max(turn - 1, 0));
    } else if (entry.type === "summary") {
      if (labels.private.length > 0) yield { tool: "summary", turn: 0, text: entry.text };
    } else if (getProvenance(entry) !== "user") {
      const tool = getProvenance(entry) === "application" ? "application" : "import";
      yield { tool, turn: 0, text: toPlainText(entry.content) };
    }
  }
}

function isPrivate({ reads }: ResultEntry): boolean {
  return reads?.includes("private") ?? false;
}

function toPrivateText({ name, content }: ResultEntry, turn: number): PrivateText {
  return { tool: name, turn, text: toPlainText(content) };
}

/** Shows the ends of a piece: enough to recognize it, too little to be of use in a log. */
function maskPiece(text: string): string {
  const characters = [...text.replace(/\s+/g, " ")];
  const length = Math.min(maxShownLength, Math.floor(characters.length / 4));
  const ends = `${characters.slice(0, length).join("")}…${characters.slice(-length).join("")}`;
  return `${quoteUntrusted(ends, ends.length)} (${characters.length} characters)`;
}
