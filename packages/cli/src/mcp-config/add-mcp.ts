import type { Command } from "commander";
import type { AddCommand } from "../commands/command.ts";
import { rejectArguments } from "../errors/unknown-command.ts";

const serveExamples = `
Examples:
  $ capstan mcp                          the agents, for an MCP client that starts this command
  $ capstan mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  $ capstan mcp list

A client's configuration for the first: {"mcpServers": {"capstan": {"command": "capstan", "args": ["mcp"]}}}`;

const addExamples = `
Options, before the command:
  -e, --env KEY=VALUE        a variable for the server; KEY alone is taken from the environment when it starts
  -H, --header 'Name: value' a header for a server at a URL

Examples:
  $ capstan mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  $ capstan mcp add github -e GITHUB_TOKEN -- docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  $ capstan mcp add docs https://example.com/mcp --header 'Authorization: Bearer \${DOCS_TOKEN}'

It is written into .mcp.json of this folder, for everybody who works in it.`;

/** `capstan mcp`: the agents as an MCP server, and the servers of a project. */
export const addMcp: AddCommand = (program, io, outcome) => {
  const mcp = program
    .command("mcp")
    .description("serve the agents over stdio to an MCP client; add, list and remove MCP servers")
    .addHelpText("after", serveExamples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      const { serveOverStdio } = await import("../serve/serve-over-stdio.ts");
      await serveOverStdio(command.optsWithGlobals(), io, outcome);
    });
  mcp
    .command("add")
    .description("add an MCP server to .mcp.json")
    .usage("<name> [-e KEY=VALUE] [--header 'Name: value'] -- <command|url> [args…]")
    .argument("<name>", "letters, digits, - and _")
    .argument("<words...>", "its command and arguments, or its URL")
    .allowUnknownOption()
    .option("--force", "replace one of that name")
    .addHelpText("after", addExamples)
    .action(async function (this: Command) {
      const { addServer } = await import("./server-actions.ts");
      await addServer({ words: this.args, isForced: this.opts().force === true }, io);
    });
  mcp
    .command("list")
    .description("list the MCP servers of .mcp.json")
    .option("--json", "as JSON")
    .action(async (_options, command) => {
      const { listServers } = await import("./server-actions.ts");
      await listServers(command.optsWithGlobals(), io);
    });
  mcp
    .command("remove")
    .alias("rm")
    .description("remove an MCP server from .mcp.json")
    .argument("<name>")
    .action(async (name) => {
      const { removeServer } = await import("./server-actions.ts");
      await removeServer(name, io);
    });
};
