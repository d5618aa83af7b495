import { toJsonLine, toUnicodeEscape } from "./json-text.ts";

/** Lists the forms of a secret in a text: unchanged, in common encodings, and each of these inside JSON. */
export function listSecretForms(secret: string): ReadonlySet<string> {
  const whole = secret.toWellFormed();
  const bytes = new TextEncoder().encode(whole);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const urlSafe = base64.replaceAll("+", "-").replaceAll("/", "_");
  const encoded = [base64, urlSafe].flatMap((text) => [text, text.replace(/=+$/, "")]);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const inUrls = [whole, ...encoded].flatMap(toUrlForms);
  const forms = [secret, ...encoded, hex, hex.toUpperCase(), ...inUrls];
  // Twice, for JSON within JSON, such as a server response inside a tool result.
  const inJson = forms.flatMap(toJsonForms);
  return new Set([...forms, ...inJson, ...inJson.flatMap(toJsonForms)]);
}

/** URL components, URLs and form data encode different characters. */
function toUrlForms(text: string): string[] {
  const inForm = new URLSearchParams([["", text]]).toString().slice(1);
  const forms = [encodeURIComponent(text), encodeURI(text), inForm];
  return [...forms, ...forms.map((form) => form.replace(/%../g, (code) => code.toLowerCase()))];
}

/** Standard JSON, JSON as this library writes it, and ASCII-only JSON. */
function toJsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replace(/[^ -~]/g, toUnicodeEscape);
  const upper = ascii.replace(/\\u(....)/g, (_, code: string) => `\\u${code.toUpperCase()}`);
  return [plain, toJsonLine(text).slice(1, -1), ascii, upper];
}
