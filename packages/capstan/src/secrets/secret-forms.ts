import { jsonText, unicodeEscape } from "./json-text.ts";

/** What a secret may look like in a text: as it is, in the usual encodings, and each of these inside of JSON. */
export function secretForms(secret: string): ReadonlySet<string> {
  const whole = secret.toWellFormed();
  const bytes = new TextEncoder().encode(whole);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const urlSafe = base64.replaceAll("+", "-").replaceAll("/", "_");
  const encoded = [base64, urlSafe].flatMap((text) => [text, text.replace(/=+$/, "")]);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const inUrls = [whole, ...encoded].flatMap(urlForms);
  const forms = [secret, ...encoded, hex, hex.toUpperCase(), ...inUrls];
  // Twice, for JSON that holds JSON: the answer of a server inside of the result of a tool.
  const inJson = forms.flatMap(jsonForms);
  return new Set([...forms, ...inJson, ...inJson.flatMap(jsonForms)]);
}

/** Components, whole addresses and forms differ in which characters they encode. */
function urlForms(text: string): string[] {
  const inForm = new URLSearchParams([["", text]]).toString().slice(1);
  const forms = [encodeURIComponent(text), encodeURI(text), inForm];
  return [...forms, ...forms.map((form) => form.replace(/%../g, (code) => code.toLowerCase()))];
}

/** JSON as most write it, as it is written here, and as those write it who keep to ASCII. */
function jsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replace(/[^ -~]/g, unicodeEscape);
  const upper = ascii.replace(/\\u(....)/g, (_, code: string) => `\\u${code.toUpperCase()}`);
  return [plain, jsonText(text).slice(1, -1), ascii, upper];
}
