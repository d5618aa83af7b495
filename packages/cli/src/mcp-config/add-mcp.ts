import { Argument, type Command } from "commander";
import type { AddCommand } from "../commands/command.ts";
import { rejectArguments } from "../errors/unknown-command.ts";
import type { Io } from "../io.ts";
import { mcpClientNames } from "./mcp-clients.ts";

const serveExamples = `
Examples:
  $ capstan mcp install claude-code      let Claude Code use the agents of this folder
  $ capstan mcp                          serve the agents to the MCP client that starts it
  $ capstan mcp add fs -- npx -y @modelcontextprotocol/server-filesystem .
  $ capstan mcp list
  $ capstan mcp review fs                show what the model reads of a server, and approve it

Any client: \`capstan mcp install cursor --print\` prints an entry with absolute paths.`;

const installExamples = `
Examples:
  $ capstan mcp install claude-code
  $ capstan mcp install claude-desktop -e OPENAI_API_KEY
  $ capstan mcp install vscode --name airport --agent airport
  $ capstan mcp install zed --print      write nothing

Writes your own configuration of the client, which applies in every folder. The entry has absolute paths and keeps
--agent, --model, --tools, --config and --database. \`capstan doctor\` checks it.`;

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
    .description("serve the agents over stdio to an MCP client; install them in one; manage MCP servers")
    .option("--folder <folder>", "work in this folder, wherever the client starts the command")
    .addHelpText("after", serveExamples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      const { serveOverStdio } = await import("../serve/serve-over-stdio.ts");
      await serveOverStdio(command.optsWithGlobals(), io, outcome);
    });
  addInstall(mcp, io);
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

/** Adds `capstan mcp install` and `capstan mcp uninstall`. */
function addInstall(mcp: Command, io: Io): void {
  const collect = (value: string, values: readonly string[] = []) => [...values, value];
  mcp
    .command("install")
    .description("add the agents of this folder to an MCP client")
    .addArgument(new Argument("[client]").choices(mcpClientNames))
    .usage("<client> [options]")
    .option("--name <name>", "name of the server in the client", "capstan")
    .option(
      "-e, --env <KEY[=VALUE]>",
      "store a variable in the entry, in plain text; may be repeated",
      collect,
    )
    .option("-p, --print", "print the entry and write nothing")
    .option("--force", "replace a server of that name")
    .addHelpText("after", installExamples)
    .action(async (client, _options, command) => {
      const { installClient } = await import("./install-client.ts");
      await installClient(client, command.optsWithGlobals(), io);
    });
  mcp
    .command("uninstall")
    .description("remove the agents from an MCP client")
    .addArgument(new Argument("<client>").choices(mcpClientNames))
    .option("--name <name>", "name of the server in the client", "capstan")
    .action(async (client, _options, command) => {
      const { uninstallClient } = await import("./install-client.ts");
      await uninstallClient(client, command.optsWithGlobals(), io);
    });
}
