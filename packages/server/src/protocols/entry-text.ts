import type { AssistantEntry, Part } from "capstan";

/** What a message of a model says in words. */
export function textOf({ parts }: AssistantEntry): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Content as plain text; what is not text is named, not shown. */
export function plainText(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type} ${part.mediaType}]`))
    .join("\n");
}
