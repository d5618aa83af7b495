import { AgentError } from "../errors.ts";
import { type FormsNode, formsTrie, nextNode } from "./forms-trie.ts";
import type { Mask } from "./json-text.ts";
import { secretForms } from "./secret-forms.ts";

const shortestSecret = 6;
const stars = "***";

/** Masks a text that comes in pieces as if it came whole. Holds back what may be the beginning of a secret, and no more. */
export interface MaskedStream {
  /** Takes the next piece, and gives what of the text can be shown. */
  push(text: string): string;
  /** Gives what was held back: the text is over, and the next piece begins another one. */
  end(): string;
}

/**
 * Puts `***` in the place of every secret, also where it is written in base64 (standard or for URLs, padded or not),
 * in hex, URL-encoded, or inside of JSON. Secrets that overlap are masked as one. Not found: a secret that is reversed,
 * cut up, or encoded together with other text. Throws `invalid_definition` for a secret of fewer than six characters,
 * which would also be found where it is not meant.
 */
export function maskSecrets(secrets: readonly string[]): Mask {
  return secrets.length === 0 ? (text) => text : maskWith(maskedStreams(secrets));
}

/** Masks whole texts. */
export function maskWith(newStream: () => MaskedStream): Mask {
  return (text) => {
    const stream = newStream();
    return stream.push(text) + stream.end();
  };
}

/** `maskSecrets` for consecutive pieces of text: however it is cut up, what is given out is that of the whole. */
export function maskedStream(secrets: readonly string[]): MaskedStream {
  return maskedStreams(secrets)();
}

/** Streams for many texts with the same secrets, which are prepared once. */
export function maskedStreams(secrets: readonly string[]): () => MaskedStream {
  for (const [index, secret] of secrets.entries()) assertLong(secret, index);
  const root = formsTrie(new Set(secrets.flatMap((secret) => [...secretForms(secret)])));
  return () => streamFrom(root);
}

/** Names the secret by its place: the message may end up in a log. */
function assertLong(secret: string, index: number): void {
  if (typeof secret === "string" && secret.length >= shortestSecret) return;
  const message = `Secret ${index + 1} cannot be masked: give a text of at least ${shortestSecret} characters.`;
  throw new AgentError("invalid_definition", message);
}

/** A secret within the text that is held back. `begun`: its stars are given out already. */
type Span = { readonly start: number; readonly end: number; readonly begun: boolean };

function streamFrom(root: FormsNode): MaskedStream {
  let node = root;
  let held = "";
  let spans: Span[] = [];

  /** No secret to come can begin before `place`. */
  function giveOut(place: number): string {
    let shown = "";
    let at = 0;
    for (const { start, end, begun } of spans) {
      if (start >= place) break;
      shown += held.slice(at, start) + (begun ? "" : stars);
      at = Math.min(end, place);
    }
    shown += held.slice(at, place);
    held = held.slice(place);
    spans = spans.filter(({ end }) => end > place).map((span) => moved(span, place));
    return shown;
  }

  return {
    push(text) {
      const from = held.length;
      held += text;
      for (let index = from; index < held.length; index++) {
        node = nextNode(node, held.charCodeAt(index));
        if (node.matched > 0) addSpan(spans, index + 1 - node.matched, index + 1);
      }
      return giveOut(held.length - node.begun);
    },
    end() {
      node = root;
      return giveOut(held.length);
    },
  };
}

/** Spans that overlap become one. */
function addSpan(spans: Span[], start: number, end: number): void {
  let joined: Span = { start, end, begun: false };
  for (let last = spans.at(-1); last && last.end > joined.start; last = spans.at(-1)) {
    joined = { start: Math.min(last.start, joined.start), end, begun: last.begun || joined.begun };
    spans.pop();
  }
  spans.push(joined);
}

function moved({ start, end, begun }: Span, by: number): Span {
  return { start: Math.max(0, start - by), end: end - by, begun: begun || start < by };
}

/** How this library says that it has cut a text. */
const mark = /\n?…(?: \([^()]*\))?$/;

/** Whether the text says so of itself. */
export function isMarkedCut(text: string): boolean {
  return (text.endsWith("…") || text.endsWith(")")) && mark.test(text);
}

/** What to look for: the forms of all secrets, and the shortest beginning of one that counts. */
export type CutForms = { readonly forms: readonly string[]; readonly shortest: number };

/**
 * Masks a text that may have been cut, perhaps in the middle of a secret: half of one or more at the end is masked,
 * too. Less of it is left alone, so that what is unknown of a secret is always more than half.
 */
export function maskCut(text: string, stream: MaskedStream, { forms, shortest }: CutForms): string {
  const shown = stream.push(text) + stream.end();
  const said = isMarkedCut(shown) ? shown.replace(mark, "") : shown;
  const before = stream.push(said);
  const rest = stream.end();
  const isHalf = (form: string) => form.startsWith(rest) && rest.length * 2 >= form.length;
  const end = rest.length >= shortest && forms.some(isHalf) ? "***" : rest;
  return `${before}${end}${shown.slice(said.length)}`;
}
