// Writes the table of docs/protocols.md from what the projections say of themselves.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acpMapping } from "../packages/cli/src/acp/session-updates.ts";
import { a2aMapping } from "../packages/server/src/protocols/a2a/task.ts";
import { agUiMapping } from "../packages/server/src/protocols/ag-ui/ag-ui-stream.ts";
import { uiMessageMapping } from "../packages/server/src/protocols/ai-sdk/ui-message-stream.ts";
import { messagesMapping } from "../packages/server/src/protocols/messages/message-encoder.ts";
import { responsesMapping } from "../packages/server/src/protocols/responses/response-encoder.ts";

export type Mapping = { readonly [event: string]: string | undefined };

export const mappings: Readonly<Record<string, Mapping>> = {
  "OpenAI Responses": responsesMapping,
  "Anthropic Messages": messagesMapping,
  "AI SDK UI message stream": uiMessageMapping,
  "AG-UI": agUiMapping,
  A2A: a2aMapping,
  ACP: acpMapping,
};

const file = join(import.meta.dirname, "..", "docs", "protocols.md");
const marks = /(<!-- mappings -->\n)[\s\S]*(\n<!-- end of mappings -->)/;

/** The page with the tables of today. */
export function protocolsPage(): string {
  const tables = Object.entries(mappings).map(([name, mapping]) => {
    const rows = Object.entries(mapping).map(([event, wire]) => `| \`${event}\` | ${wire} |`);
    return [`### ${name}`, "", "| event | on the wire |", "| --- | --- |", ...rows].join("\n");
  });
  return readFileSync(file, "utf8").replace(
    marks,
    (_, begin, end) => `${begin}\n${tables.join("\n\n")}\n${end}`,
  );
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, protocolsPage());
