import { join } from "node:path";
import { loopbackRedirect, type SignIn, tokenFile } from "@capstan/mcp";
import { AgentError } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { Io } from "../io.ts";
import { canOpenBrowser, openBrowser } from "../serve/open-browser.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";
import type { WorkspaceFlags } from "./workspace.ts";

/** How people sign in to MCP servers: in a terminal with a browser, and from then on with what is kept of it. */
export function createSignIn(io: Io, { isScript }: Pick<WorkspaceFlags, "isScript">): SignIn {
  const redirect = loopbackRedirect({
    open(url, server) {
      io.stderr.write(
        `To use the MCP server ${escapeTerminalLine(server)}, sign in: ${escapeTerminalLine(url)}\n`,
      );
      if (canOpenBrowser(io)) openBrowser(url, io);
    },
  });
  const isInteractive = !isScript && io.stdin.isTTY === true && io.stderr.isTTY === true;
  return {
    tokens: tokenFile(join(dataFolder(io.env), "mcp-tokens.json")),
    redirect: isInteractive ? redirect : { ...redirect, authorize: refuseSignIn },
  };
}

async function refuseSignIn({ server }: { readonly server: string }): Promise<never> {
  const message = `The MCP server "${server}" wants you to sign in: run \`capstan\` in a terminal once.`;
  throw new AgentError("mcp_disconnected", message);
}
