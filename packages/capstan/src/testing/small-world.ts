import { defineTool, type Tool } from "../tool.ts";

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

/** The tools of a small office: mail, files, web pages, a calendar, a repository, and actions on them. */
export function createOfficeTools(executions: ToolExecutions, contents: Contents = {}): Tool[] {
  const createReader = (name: string, reads: Tool["reads"]) =>
    defineTool({
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
  const createActor = (name: string, effects: "state" | "send") =>
    defineTool({
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
  return [
    createReader("read_mail", ["private", "untrusted"]),
    createReader("read_file", ["private", "untrusted"]),
    createReader("list_files", ["private", "untrusted"]),
    createReader("calendar", ["private", "untrusted"]),
    createReader("customers", ["private"]),
    createReader("search_web", ["untrusted"]),
    createReader("web_page", ["untrusted"]),
    createReader("git_log", ["untrusted"]),
    createReader("describe_image", ["untrusted"]),
    createReader("handbook", ["public"]),
    createReader("weather", ["public"]),
    createActor("send_mail", "send"),
    createActor("post", "send"),
    createActor("fetch_url", "send"),
    createActor("delete_file", "state"),
    createActor("pay", "state"),
    createActor("remember", "state"),
    createActor("book", "state"),
  ];
}
