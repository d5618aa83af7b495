import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan serve                                    on 127.0.0.1, for this machine only
  $ capstan serve --port 8080
  $ CAPSTAN_API_KEY=… capstan serve --host 0.0.0.0   for other machines; every request needs the key

Set PORT, HOST and CAPSTAN_API_KEY in the environment, or port, host and quotas in \`server\` of the config.
CAPSTAN_HEALTH_PORT is a second port for /healthz and /readyz only.
Conversations are in the database. \`logs: true\` in the config also writes them to log files, which are deleted with them.
SIGTERM waits up to 25 s for active runs; a second SIGTERM exits immediately.`;

/** Adds `capstan serve`. */
export const addServe: AddCommand = (program, io, outcome) => {
  program
    .command("serve")
    .description("serve the agents over HTTP: API, OpenAI-compatible endpoints, MCP")
    .option("--port <port>", "port to listen on; 0 picks a free port (default 4680)")
    .option("--host <address>", "any address but 127.0.0.1 needs CAPSTAN_API_KEY")
    .option("--studio", "also serve the web studio, if installed; it signs in with the key")
    .option("--mcp-commands", "admins may add MCP servers that are programs, which run with your rights")
    .option("--engine <name>", "what executes the runs: local, restate or dbos (default local)")
    .option("--no-work", "execute no runs: workers on the same database do (see capstan worker)")
    .option("--log [file]", "log each request as a JSON line, without contents; to stdout by default")
    .option("--sse-log [file]", "log each server-sent event, with its contents; to stderr by default")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { serve } = await import("./serve.ts");
      await serve(command.optsWithGlobals(), io, outcome);
    });
};
