import type { Mask } from "./json-text.ts";
import { maskCut } from "./mask-cut.ts";
import { type MaskedStream, maskedStreams, maskWith } from "./mask-secrets.ts";
import { type FactMasks, maskedFact } from "./masked-fact.ts";
import { maskedValue } from "./masked-value.ts";
import { secretForms } from "./secret-forms.ts";

/** The secrets of a run, prepared: how everything that leaves the run is masked. */
export interface Masking {
  /** Masks a whole text. */
  readonly text: Mask;
  /** Masks a text that may have been cut: also half of a secret at its end. */
  readonly cutText: Mask;
  /** Masks every text, key and number of a value; one without secrets comes back as it is. */
  value<Value>(value: Value): Value;
  /** Masks what a fact, a delta or an outcome says; ids and words of our own vocabulary stay. */
  fact<Body extends object>(body: Body): Body;
  /** For texts that come in pieces. */
  newStream(): MaskedStream;
}

/** Every form of a secret has at least so many characters. */
const shortest = 6;
const mostKept = 32;
const kept = new Map<string, Masking>();

/**
 * The masking for these secrets, see `maskSecrets` for what is recognised; undefined without any. It is prepared once
 * per set of secrets.
 */
export function maskingOf(secrets: readonly string[]): Masking | undefined {
  if (secrets.length === 0) return undefined;
  const key = JSON.stringify(secrets);
  const known = kept.get(key);
  if (known) return known;
  const made = masking(secrets);
  // Secrets may differ from run to run, as tokens of users do: only the newest are kept.
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
  kept.set(key, made);
  return made;
}

function masking(secrets: readonly string[]): Masking {
  const newStream = maskedStreams(secrets);
  const forms = [...new Set(secrets.flatMap((secret) => [...secretForms(secret)]))];
  const begun = beginningsOf(forms);
  const maskWhole = maskWith(newStream);
  // Most texts have no secret: a look for beginnings is much cheaper than a walk through the forms.
  const text: Mask = (said) => (begun.test(said) ? maskWhole(said) : said);
  const cutText: Mask = (said) => (begun.test(said) ? maskCut(said, newStream(), { forms, shortest }) : said);
  const canBeNumber = forms.some((form) => /^[\d.e+-]+$/.test(form));
  const number = (value: number) => (text(`${value}`) === `${value}` ? value : text(`${value}`));
  const masks: FactMasks = { text, cutText, newStream, ...(canBeNumber && { number }) };
  return {
    text,
    cutText,
    newStream,
    value: <Value>(value: Value) => maskedValue(value, masks) as Value,
    fact: (body) => maskedFact(body, masks),
  };
}

/** Finds where a form may begin. */
function beginningsOf(forms: readonly string[]): RegExp {
  const beginnings = new Set(forms.map((form) => form.slice(0, shortest)));
  return new RegExp([...beginnings].map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"));
}
