import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan dev                  in a folder with a capstan.config.ts, or anywhere
  $ capstan dev --port 8080      the next one that is free, if that is taken
  $ capstan dev --no-open

A change of the configuration, or of a file it imports, is taken up at once: new runs use the new agents, and
runs under way end with the old ones. A configuration that does not load changes nothing.`;

/** `capstan dev`. */
export const addDev: AddCommand = (program, io, outcome) => {
  program
    .command("dev")
    .description("serve the agents while you write them: reloads, takes a free port, opens a browser")
    .option("--port <port>", "where to listen, or on the next port that is free (default 4680)")
    .option("--host <address>", "another address than 127.0.0.1 needs CAPSTAN_API_KEY")
    .option("--no-open", "open no browser")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { dev } = await import("./dev.ts");
      await dev(command.optsWithGlobals(), io, outcome);
    });
};
