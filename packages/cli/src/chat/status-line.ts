import { basename } from "node:path";
import type { Io } from "../io.ts";
import { harmlessLine } from "../terminal/escape-terminal.ts";
import { wrapped } from "../terminal/wrap.ts";
import { isTrusted } from "../trust/trust.ts";
import type { Place } from "./conversation.ts";
import { shortId } from "./format-usage.ts";
import type { View } from "./view.ts";

/** Which model, session, folder and servers: the first line of a chat. */
export function statusLines(
  { workspace, sessionId }: Place,
  io: Io,
  view: Pick<View, "style" | "columns">,
): string[] {
  const { style } = view;
  const session = sessionId === undefined ? "new session" : `session ${shortId(sessionId)}`;
  const folder = `${harmlessLine(basename(io.cwd)) || "/"} (${isTrusted(io.cwd, io.env) ? "trusted" : "not trusted"})`;
  const servers = (workspace.mcp?.status() ?? []).map(({ name, state }) =>
    state === "ready" ? harmlessLine(name) : `${harmlessLine(name)} (${state})`,
  );
  const parts = [
    style.bold(harmlessLine(workspace.modelName)),
    session,
    folder,
    ...(servers.length > 0 ? [`mcp ${servers.join(", ")}`] : []),
  ];
  return wrapped(`${style.cyan("capstan")} ${parts.join(style.dim(" · "))}`, view.columns());
}
