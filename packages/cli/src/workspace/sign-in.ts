import { join } from "node:path";
import { loopbackRedirect, type Redirect, type SignIn, tokenFile } from "@capstan/mcp";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { Io } from "../io.ts";
import { canOpenBrowser, openBrowser } from "../serve/open-browser.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "./workspace.ts";

/** Signs in to MCP servers: interactively in a browser, afterwards with the stored tokens. */
export function createSignIn(
  io: Io,
  { isScript, mcpRedirect }: Pick<WorkspaceFlags, "isScript" | "mcpRedirect">,
): SignIn {
  const redirect = mcpRedirect ?? createTerminalRedirect(io, isScript);
  return { tokens: tokenFile(join(dataFolder(io.env), "mcp-tokens.json")), redirect };
}

function createTerminalRedirect(io: Io, isScript = false): Redirect {
  const redirect = loopbackRedirect({
    open(url, server) {
      io.stderr.write(
        `To use the MCP server ${escapeTerminalLine(server)}, sign in: ${escapeTerminalLine(url)}\n`,
      );
      if (canOpenBrowser(io)) openBrowser(url, io);
    },
  });
  const isInteractive = !isScript && io.stdin.isTTY === true && io.stderr.isTTY === true;
  return isInteractive ? redirect : { ...redirect, authorize: refuseSignIn };
}

async function refuseSignIn({ server }: { readonly server: string }): Promise<never> {
  const message = `The MCP server "${server}" requires sign-in: run \`capstan\` once in a terminal.`;
  throw new AgentError("mcp_disconnected", message);
}
