import { isRecord } from "../base/json.ts";
import type { SecretMask } from "./mask.ts";

/** Whether a mask might change anything in a value: a text, a key, a number, or a text that is split into parts. */
export function hasSecrets(root: unknown, mask: SecretMask): boolean {
  const seen = new Set<unknown>();
  const check = (value: unknown): boolean => {
    // A fact masks some texts as truncated ones; the value no longer tells which.
    if (typeof value === "string") return mask.cutText(value) !== value;
    if (typeof value !== "object" || value === null) return mask.value(value) !== value;
    if (seen.has(value)) return false;
    seen.add(value);
    if (value instanceof Map || value instanceof Set) return [...value].some(check);
    if (Array.isArray(value)) return hasSplitSecret(value, mask) || value.some(check);
    return Object.entries(value).some(([key, member]) => check(key) || check(member));
  };
  return check(root);
}

function hasSplitSecret(parts: readonly unknown[], mask: SecretMask): boolean {
  return ["text", "reasoning"].some((type) => {
    const texts = parts.flatMap((part) => (isRecord(part) && part.type === type ? [part.text] : []));
    return texts.length > 1 && mask.text(texts.join("")) !== texts.join("");
  });
}
