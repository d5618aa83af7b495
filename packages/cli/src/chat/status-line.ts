import { basename } from "node:path";
import type { Io } from "../io.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import { wrapText } from "../terminal/wrap.ts";
import type { ChatState } from "./conversation.ts";
import { shortenSessionId } from "./format-usage.ts";
import type { View } from "./view.ts";

/** Formats the first line of a chat: model, session, folder, servers. */
export function formatStatus(
  { workspace, sessionId }: ChatState,
  io: Io,
  view: Pick<View, "style" | "getColumns">,
): string[] {
  const { style } = view;
  const session = sessionId === undefined ? "new session" : `session ${shortenSessionId(sessionId)}`;
  const folder = `${escapeTerminalLine(basename(io.cwd)) || "/"} (${workspace.isTrusted ? "trusted" : "not trusted"})`;
  const servers = (workspace.mcp?.status() ?? []).map(({ name, state }) =>
    state === "ready" ? escapeTerminalLine(name) : `${escapeTerminalLine(name)} (${state})`,
  );
  const parts = [
    style.bold(escapeTerminalLine(workspace.modelName)),
    session,
    folder,
    ...(servers.length > 0 ? [`mcp ${servers.join(", ")}`] : []),
  ];
  return wrapText(`${style.cyan("capstan")} ${parts.join(style.dim(" · "))}`, view.getColumns());
}
