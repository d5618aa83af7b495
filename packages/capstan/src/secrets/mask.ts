import type { MaskText } from "./json-text.ts";
import { type FactMasks, maskFact } from "./mask-fact.ts";
import { createStreamFactory, createTextMask, type MaskedStream, maskCutText } from "./mask-secrets.ts";
import { maskValue } from "./mask-value.ts";
import { listSecretForms } from "./secret-forms.ts";

/** Masks the secrets of a run in everything that leaves it. */
export interface SecretMask {
  /** Masks a whole text. */
  readonly text: MaskText;
  /** Masks a text that may be truncated: also a partial secret at its end. */
  readonly cutText: MaskText;
  /** Masks every string, key and number of a value; returns the same object if it has no secrets. */
  value<Value>(value: Value): Value;
  /** Masks the content of a fact, a delta or an outcome; ids and fields of our own vocabulary are unchanged. */
  fact<Body extends object>(body: Body): Body;
  /** Creates a mask for a streamed text. */
  newStream(): MaskedStream;
}

/** Minimum length of every form of a secret. */
const minFormLength = 6;
const maxCachedMasks = 32;
const cachedMasks = new Map<string, SecretMask>();

/** Returns the mask for these secrets (see `maskSecrets`). Prepared once per set of secrets. */
export function createMask(secrets: readonly string[]): SecretMask {
  const key = JSON.stringify(secrets);
  const known = cachedMasks.get(key);
  if (known) return known;
  const mask = buildMask(secrets);
  // Secrets such as user tokens may differ per run, so only the latest masks are cached.
  const [oldest] = cachedMasks.keys();
  if (cachedMasks.size >= maxCachedMasks && oldest !== undefined) cachedMasks.delete(oldest);
  cachedMasks.set(key, mask);
  return mask;
}

function buildMask(secrets: readonly string[]): SecretMask {
  const newStream = createStreamFactory(secrets);
  const forms = [...new Set(secrets.flatMap((secret) => [...listSecretForms(secret)]))];
  const prefixPattern = buildPrefixPattern(forms);
  const maskWhole = createTextMask(newStream);
  // Most texts have no secret: searching for prefixes is much cheaper than walking the trie.
  const text: MaskText = (input) => (prefixPattern.test(input) ? maskWhole(input) : input);
  const cutText: MaskText = (input) =>
    prefixPattern.test(input) ? maskCutText(input, newStream(), { forms, shortest: minFormLength }) : input;
  const canBeNumber = forms.some((form) => /^[\d.e+-]+$/.test(form));
  const number = (value: number) => (text(`${value}`) === `${value}` ? value : text(`${value}`));
  const masks: FactMasks = { text, cutText, newStream, ...(canBeNumber && { number }) };
  return {
    text,
    cutText,
    newStream,
    value: <Value>(value: Value) => maskValue(value, masks) as Value,
    fact: (body) => maskFact(body, masks),
  };
}

/** Matches where a form may start. */
function buildPrefixPattern(forms: readonly string[]): RegExp {
  const prefixes = new Set(forms.map((form) => form.slice(0, minFormLength)));
  return new RegExp([...prefixes].map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"));
}
