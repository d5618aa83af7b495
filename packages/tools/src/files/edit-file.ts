import { defineTool, type Tool } from "capstan";
import { type Before, changeFile, type WritableWorkspace } from "./change-file.ts";
import { badArguments, quoted } from "./file-failure.ts";
import { reasonToAsk } from "./reason-to-ask.ts";

type Edit = { readonly find: string; readonly replace: string; readonly all?: boolean };

const mostEdits = 100;

/** `edit_file`: parts of a file replaced by others. */
export function editFileTool(workspace: WritableWorkspace): Tool {
  const { fileBytes } = workspace.allowance;
  return defineTool({
    name: "edit_file",
    description:
      "Replaces text in a file. Each `find` must be in the file exactly once, to the letter and with its spaces and line ends, unless `all` is true. Edits are made one after the other; if one fails, none is made.",
    // "…" stands for what the file has there: it is read first.
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
          maxItems: mostEdits,
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
    needsApproval: ({ path }) => reasonToAsk("Changes", path, workspace.root),
    execute: ({ path, edits }, context) =>
      changeFile(workspace, {
        path,
        context,
        create: false,
        after: (before) => edited(textOf(before, path, fileBytes), edits, { path, fileBytes }),
      }),
  });
}

function textOf(before: Before | undefined, path: string, fileBytes: number): string {
  if (before?.text !== undefined) return before.text;
  const message = `${quoted(path)} cannot be edited: it is not a text in UTF-8, or has more than ${fileBytes} bytes.`;
  throw badArguments(message);
}

type Where = { readonly path: string; readonly fileBytes: number };

function edited(text: string, edits: readonly Edit[], where: Where): string {
  return edits.reduce((before, edit, index) => applied(before, edit, { ...where, number: index + 1 }), text);
}

function applied(text: string, edit: Edit, { path, fileBytes, number }: Where & { number: number }): string {
  const { find, replace, all = false } = edit;
  const found = countOf(find, text);
  const which = `The text to find of edit ${number}, ${quoted(find)}, is`;
  if (found === 0)
    throw badArguments(`${which} not in ${quoted(path)}.${hintFor(text, find)} Nothing was changed.`);
  if (found > 1 && !all) {
    const advice = "Give more of the text around it, or set `all`.";
    throw badArguments(`${which} ${found} times in ${quoted(path)}. ${advice} Nothing was changed.`);
  }
  // Before it is put together: many short texts by a long one make a very long one.
  if (text.length + found * (replace.length - find.length) > fileBytes)
    throw badArguments(`Edit ${number} would make ${quoted(path)} larger than ${fileBytes} bytes.`);
  // A function, for a text would have its dollar signs read.
  return text.replaceAll(find, () => replace);
}

function countOf(find: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + find.length)) count++;
  return count;
}

/** What is most often wrong when a text is not found. */
function hintFor(text: string, find: string): string {
  const unix = (lines: string) => lines.replaceAll("\r\n", "\n");
  if (unix(text).includes(unix(find)))
    return text.includes("\r\n")
      ? " The file ends its lines with \\r\\n."
      : " The file ends its lines with \\n.";
  const plain = (lines: string) => lines.replace(/\s+/g, " ").trim();
  return plain(text).includes(plain(find))
    ? " It is there with other spaces or line ends: read the file again."
    : "";
}
