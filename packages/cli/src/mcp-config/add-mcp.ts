import type { Command } from "commander";
import type { AddCommand } from "../commands/command.ts";
import { rejectArguments } from "../errors/unknown-command.ts";

const serveExamples = `
Examples:
  $ capstan mcp                          serve the agents to the MCP client that starts it
  $ capstan mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  $ capstan mcp list
  $ capstan mcp review fs                show what the model reads of a server, and approve it

Client config: {"mcpServers": {"capstan": {"command": "capstan", "args": ["mcp"]}}}`;

const addExamples = `
Options, before the command:
  -e, --env KEY=VALUE        environment variable; KEY alone is read from the environment at startup
  -H, --header 'Name: value' HTTP header for a server at a URL

Examples:
  $ capstan mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  $ capstan mcp add github -e GITHUB_TOKEN -- docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  $ capstan mcp add docs https://example.com/mcp --header 'Authorization: Bearer \${DOCS_TOKEN}'

The server is added to .mcp.json of this project, which is usually shared.`;

/** Adds `capstan mcp`. */
export const addMcp: AddCommand = (program, io, outcome) => {
  const mcp = program
    .command("mcp")
    .description("serve the agents over stdio to an MCP client; add, list, review and remove MCP servers")
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
    .argument("<words...>", "command and arguments, or URL")
    .allowUnknownOption()
    .option("--force", "replace an existing server of that name")
    .addHelpText("after", addExamples)
    .action(async function (this: Command) {
      const { addServer } = await import("./server-actions.ts");
      await addServer({ words: this.args, isForced: this.opts().force === true }, io);
    });
  mcp
    .command("list")
    .description("list the MCP servers of .mcp.json")
    .option("--json", "print JSON")
    .action(async (_options, command) => {
      const { listServers } = await import("./server-actions.ts");
      await listServers(command.optsWithGlobals(), io);
    });
  mcp
    .command("review")
    .description("show what the model reads of an MCP server, and approve it")
    .argument("<name>")
    .option("--yes", "approve without asking")
    .option("--json", "print JSON")
    .action(async (name, _options, command) => {
      const { reviewServer } = await import("./review-server.ts");
      await reviewServer(name, command.optsWithGlobals(), io);
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
