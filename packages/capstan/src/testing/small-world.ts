import { defineTool, type Tool } from "../kernel/tool.ts";

const text = { type: "object", properties: { of: { type: "string" } } } as const;
const message = {
  type: "object",
  properties: { to: { type: "string" }, text: { type: "string" } },
  required: ["to"],
} as const;

/** Executed actions, in order. */
export type ToolExecutions = { readonly name: string; readonly input: unknown }[];

/** The content that each reading tool returns. Tools that are not listed return harmless text. */
export type Contents = { readonly [tool: string]: unknown };

function createReader(contents: Contents, name: string, reads: Tool["reads"]): Tool {
  return defineTool({
    name,
    description: `Reads: ${name}`,
    input: text,
    effects: "none",
    reads: reads ?? [],
    execute() {
      const content = contents[name] ?? `Nothing special in ${name}.`;
      if (content instanceof Error) throw content;
      return content;
    },
  });
}

function createActor(executions: ToolExecutions, name: string, effects: "state" | "send" | "ui"): Tool {
  return defineTool({
    name,
    description: `Does: ${name}`,
    input: message,
    effects,
    reads: [],
    target: ({ to }) => to,
    execute(input) {
      executions.push({ name, input });
      return "done";
    },
  });
}

/** The tools of a small office: mail, files, web pages, a calendar, a repository, and actions on them. */
export function createOfficeTools(executions: ToolExecutions, contents: Contents = {}): Tool[] {
  return [
    createReader(contents, "read_mail", ["private", "untrusted"]),
    createReader(contents, "read_file", ["private", "untrusted"]),
    createReader(contents, "list_files", ["private", "untrusted"]),
    createReader(contents, "calendar", ["private", "untrusted"]),
    createReader(contents, "customers", ["private"]),
    createReader(contents, "search_web", ["untrusted"]),
    createReader(contents, "web_page", ["untrusted"]),
    createReader(contents, "git_log", ["untrusted"]),
    createReader(contents, "describe_image", ["untrusted"]),
    createReader(contents, "handbook", ["public"]),
    createReader(contents, "weather", ["public"]),
    createActor(executions, "send_mail", "send"),
    createActor(executions, "post", "send"),
    createActor(executions, "fetch_url", "send"),
    createActor(executions, "delete_file", "state"),
    createActor(executions, "pay", "state"),
    createActor(executions, "remember", "state"),
    createActor(executions, "book", "state"),
  ];
}

/** The tools of a folder that the user chose: its files are private, and only the user writes there. */
export function createFolderTools(executions: ToolExecutions): Tool[] {
  return [
    createReader({}, "open", ["private"]),
    createReader({}, "find", ["private"]),
    createActor(executions, "edit", "state"),
  ];
}

/** The tools of an MCP server with issues. With `foreign`, its descriptions are not approved. */
export function createTrackerTools(executions: ToolExecutions, foreign?: string): Tool[] {
  const tools = [
    createReader({}, "list_issues", ["private", "untrusted"]),
    createReader({}, "tracker_status", ["public"]),
    createActor(executions, "create_issue", "send"),
    createActor(executions, "close_issue", "send"),
  ];
  return foreign === undefined ? tools : tools.map((tool) => ({ ...tool, foreign }));
}

/** What the web page of a client application can do for the user. */
export function createPageTools(executions: ToolExecutions): Tool[] {
  return [createActor(executions, "fill_form", "ui"), createActor(executions, "highlight", "ui")];
}
