import { defineTool, type Tool } from "../tool.ts";

const text = { type: "object", properties: { of: { type: "string" } } } as const;
const message = {
  type: "object",
  properties: { to: { type: "string" }, text: { type: "string" } },
  required: ["to"],
} as const;

/** What was done to the world, in order. */
export type Deeds = { readonly name: string; readonly input: unknown }[];

/** What each reading tool gives; one that is not here gives something harmless. */
export type Contents = { readonly [tool: string]: unknown };

/** A small office: mails, files, pages, a calendar, a repository; and ways to do something with them. */
export function smallWorld(deeds: Deeds, contents: Contents = {}): Tool[] {
  const reader = (name: string, reads: Tool["reads"]) =>
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
  const doer = (name: string, effects: "state" | "send") =>
    defineTool({
      name,
      description: `Does: ${name}`,
      input: message,
      effects,
      reads: [],
      target: ({ to }) => to,
      execute(input) {
        deeds.push({ name, input });
        return "done";
      },
    });
  return [
    reader("read_mail", ["private", "untrusted"]),
    reader("read_file", ["private", "untrusted"]),
    reader("list_files", ["private", "untrusted"]),
    reader("calendar", ["private", "untrusted"]),
    reader("customers", ["private"]),
    reader("search_web", ["untrusted"]),
    reader("web_page", ["untrusted"]),
    reader("git_log", ["untrusted"]),
    reader("describe_image", ["untrusted"]),
    reader("handbook", ["public"]),
    reader("weather", ["public"]),
    doer("send_mail", "send"),
    doer("post", "send"),
    doer("fetch_url", "send"),
    doer("delete_file", "state"),
    doer("pay", "state"),
    doer("remember", "state"),
    doer("book", "state"),
  ];
}
