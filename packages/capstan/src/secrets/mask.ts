import type { Mask } from "./json-text.ts";
import { type FactMasks, maskedFact } from "./mask-fact.ts";
import { type MaskedStream, maskCut, maskedStreams, maskWith } from "./mask-secrets.ts";
import { maskedValue } from "./mask-value.ts";
import { secretForms } from "./secret-forms.ts";

/** Where the keys of model providers are looked for. */
const keys: readonly string[] = [
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  ...["GOOGLE_ACCESS_TOKEN", "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY"],
  ...["XAI_API_KEY", "CEREBRAS_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "HF_TOKEN"],
  ...["AI_GATEWAY_API_KEY", "CAPSTAN_API_KEY"],
];

const shortestKey = 6;

/** The secrets of a run: those given, and the keys of model providers that are set. */
export function knownSecrets(
  given: readonly string[],
  environment: (name: string) => string | undefined,
): readonly string[] {
  const found = keys.map((key) => environment(key)?.trim() ?? "").filter(isKey);
  return given.length + found.length > 0 ? [...new Set([...given, ...found])] : [];
}

/** Local servers are given words such as "ollama" or "not-needed" for a key: to mask those would spoil texts. */
function isKey(value: string): boolean {
  return value.length >= shortestKey && !/^[a-z]+(?:[-_ ][a-z]+)*$/i.test(value);
}

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
