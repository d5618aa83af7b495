import { defineTool, type Tool, type ToolCall } from "capstan";
import { getWriteApprovalReason, withPreview } from "./approval-reason.ts";
import { changeFile, type ProposedChange, previewChange, type WritableWorkspace } from "./change-file.ts";

/** `write_file`: creates a file or replaces its content. */
export type WriteFileCall = ToolCall<"write_file", { path: string; content: string }>;

export function writeFileTool(workspace: WritableWorkspace): Tool<WriteFileCall, unknown> {
  const toChange = ({ path, content }: { path: string; content: string }): ProposedChange => ({
    ...{ path, create: true, call: JSON.stringify(["write_file", path, content]) },
    getContent: () => content,
  });
  return defineTool({
    name: "write_file",
    description:
      "Writes a text file: makes it, with its folders, or replaces all its content. To change a part, use edit_file.",
    examples: [
      { phrase: "create {path} with {content}" },
      { phrase: "create a file {path} with {content}" },
      { phrase: "create a file named {path} with the text {content}" },
      { phrase: "create a file called {path} containing {content}" },
      { phrase: "create a file {path} that says {content}" },
      { phrase: "write {content} to {path}" },
      { phrase: "make a new file {path} with the text {content}" },
    ],
    input: {
      type: "object",
      properties: {
        path: { type: "string", description: "Relative to the root, with slashes." },
        content: { type: "string", description: "The whole content." },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    effects: "state",
    reads: ["private"],
    target: ({ path }) => path,
    needsApproval: async (input) =>
      withPreview(await getWriteApprovalReason(input.path, workspace), () =>
        previewChange(workspace, toChange(input)),
      ),
    execute: (input, context) => changeFile(workspace, { ...toChange(input), context }),
  });
}
