import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan dev                  with or without a capstan.config.ts
  $ capstan dev --port 8080      or the next free port
  $ capstan dev --no-open
  $ capstan dev --sse-log        to see what clients receive

Changes to the config, or to a file it imports, are reloaded: new runs use the new agents, active runs finish
with the old ones. A config that fails to load changes nothing.`;

/** Adds `capstan dev`. */
export const addDev: AddCommand = (program, io, outcome) => {
  program
    .command("dev")
    .description("development server: reloads on change, finds a free port, opens a browser")
    .option("--port <port>", "preferred port; falls back to the next free one (default 4680)")
    .option("--host <address>", "any address but 127.0.0.1 needs CAPSTAN_API_KEY")
    .option(
      "--engine <name>",
      "what executes the runs: local, restate or dbos (default local); restate starts a server for a trial",
    )
    .option("--mcp-commands", "admins may add MCP servers that are programs, which run with your rights")
    .option("--no-open", "do not open a browser")
    .option("--sse-log [file]", "log each server-sent event, with its contents; to stderr by default")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { dev } = await import("./dev.ts");
      await dev(command.optsWithGlobals(), { io, outcome });
    });
};
