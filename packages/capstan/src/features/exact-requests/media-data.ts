import type { Fact } from "../../kernel/event.ts";

/** Returns the base64 of the images and files in a fact, in their order. Media that a model generated are blobs. */
export function listMediaData(fact: Fact): readonly string[] {
  const found: string[] = [];
  function visit(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    if ("type" in value && (value.type === "image" || value.type === "file") && "data" in value) {
      if (typeof value.data === "string") found.push(value.data);
    } else for (const part of Object.values(value)) visit(part);
  }
  visit(fact);
  return found;
}
