import { AgentError } from "../base/errors.ts";
import { buildFormsTrie, type FormsNode, getNextNode } from "./forms-trie.ts";
import type { MaskText } from "./json-text.ts";
import { listSecretForms } from "./secret-forms.ts";

const minSecretLength = 6;
const stars = "***";

/** Masks a streamed text as if it were complete. Holds back only text that may be the start of a secret. */
export interface MaskedStream {
  /** Adds a piece and returns the text that is safe so far. */
  push(text: string): string;
  /** Ends the text and returns what was held back. The next piece starts a new text. */
  end(): string;
}

/**
 * Replaces every secret by `***`, also in base64 (standard or URL-safe, padded or not), in hex, URL-encoded, or inside
 * JSON. Overlapping secrets are masked as one. Does not find a secret that is reversed, split, or encoded together with
 * other text. Throws `invalid_definition` for a secret of fewer than six characters, which would match unrelated text.
 */
export function maskSecrets(secrets: readonly string[]): MaskText {
  return secrets.length === 0 ? (text) => text : createTextMask(createStreamFactory(secrets));
}

/** Creates a mask for complete texts. */
export function createTextMask(newStream: () => MaskedStream): MaskText {
  return (text) => {
    const stream = newStream();
    return stream.push(text) + stream.end();
  };
}

/** `maskSecrets` for a streamed text: the output does not depend on how the text is split. */
export function maskedStream(secrets: readonly string[]): MaskedStream {
  return createStreamFactory(secrets)();
}

/** Creates streams for many texts with the same secrets, which are prepared once. */
export function createStreamFactory(secrets: readonly string[]): () => MaskedStream {
  for (const [index, secret] of secrets.entries()) assertSecretLength(secret, index);
  const root = buildFormsTrie(new Set(secrets.flatMap((secret) => [...listSecretForms(secret)])));
  return () => createMaskedStream(root);
}

/** Identifies the secret by its position, because the message may be logged. */
function assertSecretLength(secret: string, index: number): void {
  if (typeof secret === "string" && secret.length >= minSecretLength) return;
  const message = `Secret ${index + 1} cannot be masked: it must have at least ${minSecretLength} characters.`;
  throw new AgentError("invalid_definition", message);
}

/** A secret within the held-back text. `isStarted`: its stars were already emitted. */
type Span = { readonly start: number; readonly end: number; readonly isStarted: boolean };

function createMaskedStream(root: FormsNode): MaskedStream {
  let node = root;
  let held = "";
  let spans: Span[] = [];

  /** Emits the text before `position`; no later secret can start before it. */
  function emitUntil(position: number): string {
    let shown = "";
    let at = 0;
    for (const { start, end, isStarted } of spans) {
      if (start >= position) break;
      shown += held.slice(at, start) + (isStarted ? "" : stars);
      at = Math.min(end, position);
    }
    shown += held.slice(at, position);
    held = held.slice(position);
    spans = spans.filter(({ end }) => end > position).map((span) => moveSpan(span, position));
    return shown;
  }

  return {
    push(text) {
      const from = held.length;
      held += text;
      for (let index = from; index < held.length; index++) {
        node = getNextNode(node, held.charCodeAt(index));
        if (node.matchLength > 0) addSpan(spans, index + 1 - node.matchLength, index + 1);
      }
      return emitUntil(held.length - node.prefixLength);
    },
    end() {
      node = root;
      return emitUntil(held.length);
    },
  };
}

/** Merges overlapping spans. */
function addSpan(spans: Span[], start: number, end: number): void {
  let joined: Span = { start, end, isStarted: false };
  for (let last = spans.at(-1); last && last.end > joined.start; last = spans.at(-1)) {
    joined = {
      start: Math.min(last.start, joined.start),
      end,
      isStarted: last.isStarted || joined.isStarted,
    };
    spans.pop();
  }
  spans.push(joined);
}

function moveSpan({ start, end, isStarted }: Span, by: number): Span {
  return { start: Math.max(0, start - by), end: end - by, isStarted: isStarted || start < by };
}

/** The mark this library appends to a truncated text. */
const cutMark = /\n?…(?: \([^()]*\))?$/;

/** Whether the text ends with that mark. */
export function hasCutMark(text: string): boolean {
  return (text.endsWith("…") || text.endsWith(")")) && cutMark.test(text);
}

/** The forms of all secrets, and the minimum length of a partial match. */
export type SecretForms = { readonly forms: readonly string[]; readonly shortest: number };

/**
 * Masks a text that may be truncated within a secret: a partial secret of at least half its length at the end is masked
 * too. A shorter part reveals less than half of the secret and is kept.
 */
export function maskCutText(text: string, stream: MaskedStream, { forms, shortest }: SecretForms): string {
  const shown = stream.push(text) + stream.end();
  const content = hasCutMark(shown) ? shown.replace(cutMark, "") : shown;
  const before = stream.push(content);
  const rest = stream.end();
  const isPartial = (form: string) => form.startsWith(rest) && rest.length * 2 >= form.length;
  const end = rest.length >= shortest && forms.some(isPartial) ? "***" : rest;
  return `${before}${end}${shown.slice(content.length)}`;
}
