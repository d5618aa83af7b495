import { defineTool, type Tool, type ToolCall } from "capstan";
import { getApprovalReason, withPreview } from "./approval-reason.ts";
import {
  changeFile,
  type FileBefore,
  type ProposedChange,
  previewChange,
  type WritableWorkspace,
} from "./change-file.ts";
import { createArgumentError, quotePath } from "./file-errors.ts";

type EditInput = { readonly path: string; readonly edits: readonly Edit[] };
type Edit = { readonly find: string; readonly replace: string; readonly all?: boolean };

const maxEdits = 100;

/** `edit_file`: replaces parts of a file. */
export type EditFileCall = ToolCall<
  "edit_file",
  { path: string; edits: { find: string; replace: string; all?: boolean }[] }
>;

export function editFileTool(workspace: WritableWorkspace): Tool<EditFileCall, unknown> {
  const { fileBytes } = workspace.quota;
  const toChange = ({ path, edits }: EditInput): ProposedChange => ({
    ...{ path, create: false, call: JSON.stringify(["edit_file", path, edits]) },
    getContent: (before) => applyEdits(requireText(before, path, fileBytes), edits, { path, fileBytes }),
  });
  return defineTool({
    name: "edit_file",
    description:
      "Replaces text in a file. Each `find` must be in the file exactly once, to the letter and with its spaces and line ends, unless `all` is true. Edits are made one after the other; if one fails, none is made.",
    // "…" marks text that the model has to read from the file first.
    examples: [
      {
        phrase: "replace {find} with {replace} in {path}",
        input: { edits: [{ find: "{find}", replace: "{replace}" }] },
      },
      {
        phrase: "change {find} to {replace} in {path}",
        input: { edits: [{ find: "{find}", replace: "{replace}" }] },
      },
      {
        phrase: "rename {find} to {replace} in {path}",
        input: { edits: [{ find: "{find}", replace: "{replace}", all: true }] },
      },
      {
        phrase: "remove {find} from {path}",
        input: { edits: [{ find: "{find}", replace: "" }] },
      },
      {
        phrase: "add a docstring to {function} in {path}",
        input: {
          edits: [
            {
              find: "def {function}(…):",
              replace: 'def {function}(…):\n    """TODO: say what {function} does."""',
            },
          ],
        },
      },
      {
        phrase: "add the docstring {docstring} to {function} in {path}",
        input: {
          edits: [{ find: "def {function}(…):", replace: 'def {function}(…):\n    """{docstring}"""' }],
        },
      },
    ],
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "Relative to the root, with slashes." },
        edits: {
          type: "array",
          minItems: 1,
          maxItems: maxEdits,
          items: {
            type: "object",
            properties: {
              find: { type: "string", minLength: 1, description: "The text as it is." },
              replace: { type: "string", description: "The text as it shall be." },
              all: { type: "boolean", description: "Replace every occurrence." },
            },
            required: ["find", "replace"],
            additionalProperties: false,
          },
        },
      },
      required: ["path", "edits"],
      additionalProperties: false,
    },
    effects: "state",
    reads: ["private"],
    target: ({ path }) => path,
    needsApproval: (input) =>
      withPreview(getApprovalReason("Changes", input.path, workspace.root), () =>
        previewChange(workspace, toChange(input)),
      ),
    execute: (input, context) => changeFile(workspace, { ...toChange(input), context }),
  });
}

function requireText(before: FileBefore | undefined, path: string, fileBytes: number): string {
  if (before?.text !== undefined) return before.text;
  const message = `${quotePath(path)} cannot be edited: it is not UTF-8 text, or is larger than ${fileBytes} bytes.`;
  throw createArgumentError(message);
}

type EditTarget = { readonly path: string; readonly fileBytes: number };

function applyEdits(text: string, edits: readonly Edit[], target: EditTarget): string {
  return edits.reduce(
    (before, edit, index) => applyEdit(before, edit, { ...target, number: index + 1 }),
    text,
  );
}

function applyEdit(
  text: string,
  edit: Edit,
  { path, fileBytes, number }: EditTarget & { number: number },
): string {
  const { find, replace, all = false } = edit;
  const count = countOccurrences(find, text);
  const subject = `Edit ${number}: the text ${quotePath(find)} occurs`;
  if (count === 0)
    throw createArgumentError(
      `Edit ${number}: the text ${quotePath(find)} was not found in ${quotePath(path)}.${suggestFix(text, find)} Nothing was changed.`,
    );
  if (count > 1 && !all) {
    const advice = "Include more of the surrounding text, or set `all`.";
    throw createArgumentError(
      `${subject} ${count} times in ${quotePath(path)}. ${advice} Nothing was changed.`,
    );
  }
  // Checked before building the text: replacing many short matches by a long text can be huge.
  if (text.length + count * (replace.length - find.length) > fileBytes)
    throw createArgumentError(`Edit ${number} would make ${quotePath(path)} larger than ${fileBytes} bytes.`);
  // A function, because a replacement string would expand `$&` and the like.
  return text.replaceAll(find, () => replace);
}

function countOccurrences(find: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + find.length)) count++;
  return count;
}

/** Names the most common reasons why a text is not found. */
function suggestFix(text: string, find: string): string {
  const normalizeNewlines = (lines: string) => lines.replaceAll("\r\n", "\n");
  if (normalizeNewlines(text).includes(normalizeNewlines(find)))
    return text.includes("\r\n") ? " The file uses \\r\\n line endings." : " The file uses \\n line endings.";
  const collapseSpaces = (lines: string) => lines.replace(/\s+/g, " ").trim();
  return collapseSpaces(text).includes(collapseSpaces(find))
    ? " It occurs with different whitespace: read the file again."
    : "";
}
