const quotedText = /"[^"\n]*"|“[^”\n]*”|`[^`\n]*`/gu;
const technicalName = /\b\p{Ll}+(?:\p{Lu}\p{Ll}+)+\b|\b\p{Ll}+(?:_\p{Ll}+)+\b/gu;

/** The names of tools and arguments in a text, such as `list_notes` or `placeId`. Quoted text does not count. */
export const getTechnicalNames = (text: string): readonly string[] =>
  text.replace(quotedText, "").match(technicalName) ?? [];

const modelAdvice = /\b(?:the user|an? (?:earlier )?search|their ids|never guess)\b/iu;

/** Removes the sentences of a message that are meant for a model: which tool to use, and how. */
export const stripModelAdvice = (message: string): string =>
  message
    .split(/(?<=[.!?])\s+(?=\p{Lu})/u)
    .filter((sentence) => getTechnicalNames(sentence).length === 0 && !modelAdvice.test(sentence))
    .join(" ");
