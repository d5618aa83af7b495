import type { Entry } from "capstan";

/** An entry of a history with a text that can be edited. */
export type EditableEntry = { readonly index: number; readonly type: Entry["type"]; readonly label: string };

const names = { user: "User", assistant: "Model", result: "Result", summary: "Summary" } as const;
const maxLabelLength = 60;

/** Lists the entries whose text can be edited. */
export function listEditable(history: readonly Entry[]): readonly EditableEntry[] {
  return history.flatMap((entry, index) => {
    const text = getEntryText(entry);
    if (text === undefined) return [];
    const start = text.length > maxLabelLength ? `${text.slice(0, maxLabelLength).toWellFormed()}…` : text;
    return [{ index, type: entry.type, label: `${index + 1}. ${names[entry.type]}: ${start}` }];
  });
}

/** Returns the text of an entry; undefined if it has none, or several. */
export function getEntryText(entry: Entry): string | undefined {
  switch (entry.type) {
    case "summary":
      return entry.text;
    case "user":
    case "result":
      return typeof entry.content === "string" ? entry.content : undefined;
    case "assistant": {
      const texts = entry.parts.filter(({ type }) => type === "text");
      return texts.length === 1 && texts[0]?.type === "text" ? texts[0].text : undefined;
    }
  }
}

export function setEntryText(entry: Entry, text: string): Entry {
  switch (entry.type) {
    case "summary":
      return { ...entry, text };
    case "user":
    case "result":
      return { ...entry, content: text };
    case "assistant":
      return {
        ...entry,
        parts: entry.parts.map((part) => (part.type === "text" ? { ...part, text } : part)),
      };
  }
}
