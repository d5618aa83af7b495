// The whole conversation in one message, for models that only take a prompt:
//
//   CONVERSATION HISTORY:
//   user: …
//   assistant: …
//   tool: TOOL_RESULT: name …
//
//   Respond with either: …
//
// Lines of the contents that look like these labels are quoted, so that no content can imitate another speaker.
import { type Entry, formatPlaceholder, getText, type Part, type UserEntry } from "../../kernel/history.ts";

const label = /^(?=[\s\p{Cf}>*_]*(?:user|assistant|tool|summary|system|conversation history)[\s*_]*:)/gimu;

/** Joins a converted history and the instruction that closes the prompt. Media follow the text. */
export function buildHistorySection(history: readonly Entry[], choice: string): UserEntry {
  const media: Part[] = [];
  const lines = history.map((entry) => {
    const { role, text } = formatHistoryEntry(entry, media);
    return `${role}: ${text.replace(label, (_, at: number) => (at === 0 ? "" : "> "))}`;
  });
  const text = `CONVERSATION HISTORY:\n${lines.join("\n")}\n\n${choice}`;
  return { type: "user", content: media.length > 0 ? [{ type: "text", text }, ...media] : text };
}

function formatHistoryEntry(entry: Entry, media: Part[]): { readonly role: string; readonly text: string } {
  if (entry.type === "assistant") return { role: "assistant", text: getText(entry) };
  if (entry.type === "summary") return { role: "summary", text: entry.text };
  const { content } = entry;
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const texts = parts.map((part) => {
    if (part.type === "text") return part.text;
    media.push(part);
    return formatPlaceholder(part);
  });
  const text = texts.join("\n");
  // The converter quotes this marker wherever it is not a result.
  return { role: text.startsWith("TOOL_RESULT: ") ? "tool" : "user", text };
}
