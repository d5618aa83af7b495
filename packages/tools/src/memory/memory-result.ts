import type { Memory } from "capstan/memories";
import { isUntrusted } from "capstan/memories";

/** A result for the model. Text that others may have written labels the conversation. */
export type MemoryResult = { readonly content: string; readonly reads?: readonly "untrusted"[] };

/** Labels a result that shows these memories. A path is as trustworthy as its text: the same author has chosen it. */
export function labelResult(content: string, shown: readonly Pick<Memory, "provenance">[]): MemoryResult {
  return { content, ...(shown.some(isUntrusted) && { reads: ["untrusted"] }) };
}
