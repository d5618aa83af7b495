import type { ToolReturn, UiHint } from "capstan";
import type { FileBefore } from "./change-file.ts";
import { quotePath } from "./file-errors.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

/** A change of a file. */
export type FormattedChange = {
  readonly path: string;
  readonly before: FileBefore | undefined;
  readonly content: string;
  /** Offers to undo the change, as a button. */
  readonly canUndo?: boolean;
};

/** The model gets line counts and the user gets the diff, so that a write does not reveal the old content to the model. */
export function formatChange({ path, before, content, canUndo = false }: FormattedChange): ToolReturn {
  const wasBinary = before !== undefined && before.text === undefined;
  const diff = wasBinary ? undefined : createUnifiedDiff(path, before?.text, content);
  const summary = diff ? `lines: ${diff.added} added, ${diff.removed} removed` : "was not a text file";
  const isSame = before !== undefined && diff?.text === "";
  const message = isSame
    ? `${quotePath(path)} is unchanged.`
    : `${before ? "Changed" : "Created"} ${quotePath(path)} (${summary}).`;
  const reply = `Undo the change to ${path}`;
  const replies = canUndo && reply.length <= maxReplyLength ? [reply] : [];
  const text = diff?.text ?? `Binary file a/${path} replaced by text\n`;
  return { content: message, ui: createDiffHint(path, text, replies) };
}

/** Longest reply that a widget can suggest. */
const maxReplyLength = 80;

export function createDiffHint(path: string, diff: string, replies: readonly string[] = []): UiHint {
  return { kind: "diff", props: { path, diff, ...(replies.length > 0 && { replies }) } };
}
