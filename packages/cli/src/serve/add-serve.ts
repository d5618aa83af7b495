import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan serve                                    on 127.0.0.1, for this machine alone
  $ capstan serve --port 8080
  $ CAPSTAN_API_KEY=… capstan serve --host 0.0.0.0   for others; every request needs the key

PORT, HOST and CAPSTAN_API_KEY can be set in the environment, port, host and limits in \`server\` of the
configuration. SIGTERM lets work under way finish (25 s at most), a second one ends it at once.`;

/** `capstan serve`. */
export const addServe: AddCommand = (program, io, outcome) => {
  program
    .command("serve")
    .description("serve the agents over HTTP: an API, OpenAI-compatible endpoints, MCP")
    .option("--port <port>", "where to listen; 0 takes a free port (default 4680)")
    .option("--host <address>", "another address than 127.0.0.1 needs CAPSTAN_API_KEY")
    .option("--studio", "the web studio too, where it is installed; it signs in with the key")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { serve } = await import("./serve.ts");
      await serve(command.optsWithGlobals(), io, outcome);
    });
};
