import type { EvalCase } from "capstan/evals";

/** A case as the form edits it: every field is a text. */
export type CaseDraft = {
  readonly id: string;
  readonly input: string;
  readonly expected: string;
  readonly calls: string;
  readonly forbidden: string;
  readonly notes: string;
};

export const emptyDraft: CaseDraft = { id: "", input: "", expected: "", calls: "", forbidden: "", notes: "" };

export function toDraft(evalCase: EvalCase): CaseDraft {
  const { id, input, expected, calls, forbidden, notes } = evalCase;
  return {
    id,
    input: typeof input === "string" ? input : JSON.stringify(input, null, 2),
    expected: formatField(expected),
    calls: (calls ?? []).map((call) => (typeof call === "string" ? call : JSON.stringify(call))).join("\n"),
    forbidden: (forbidden ?? []).join("\n"),
    notes: notes ?? "",
  };
}

/** A text that reads like other JSON is quoted, so that it stays a text. */
function formatField(value: EvalCase["expected"]): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  return parseField(value) === value ? value : JSON.stringify(value);
}

/** Lists and objects are JSON; anything else is a text. */
function parseField(text: string): EvalCase["expected"] {
  if (!/^\s*[[{"]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const splitLines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Keeps the fields of the original case that the form does not show. */
export function fromDraft(draft: CaseDraft, original?: EvalCase): EvalCase {
  const { context, tags, source } = original ?? {};
  const calls = splitLines(draft.calls).map((line) => {
    const call = parseField(line);
    return call as NonNullable<EvalCase["calls"]>[number];
  });
  const input = draft.input.trimStart().startsWith("[") ? parseField(draft.input) : draft.input;
  const forbidden = splitLines(draft.forbidden);
  return {
    id: draft.id.trim(),
    input: input as EvalCase["input"],
    ...(context !== undefined && { context }),
    ...(draft.expected !== "" && {
      expected: parseField(draft.expected) as NonNullable<EvalCase["expected"]>,
    }),
    ...((calls.length > 0 || original?.calls) && { calls }),
    ...(forbidden.length > 0 && { forbidden }),
    ...(draft.notes !== "" && { notes: draft.notes }),
    ...(tags && { tags }),
    ...(source && { source }),
  };
}
