import type { AddCommand } from "../commands/command.ts";

const examples = `
Examples:
  $ capstan worker                            executes the runs of this project's database
  $ capstan serve --no-work                   next to it: HTTP only
  $ CAPSTAN_HEALTH_PORT=9090 capstan worker   /healthz and /readyz on a port of their own

Start as many workers as you need, on one machine with SQLite, or on many with \`database: "postgres://…"\`. A run
whose worker is gone is taken over by another one. Machines with different folders need the same \`project\` in the
config. SIGTERM waits up to 25 s for active runs; other workers resume the rest.`;

/** Adds `capstan worker`. */
export const addWorker: AddCommand = (program, io, outcome) => {
  program
    .command("worker")
    .description("execute runs without serving HTTP: those of this database that no process executes")
    .option("--engine <name>", "what executes the runs: local, restate or dbos (default local)")
    .option("--host <address>", "address of the health port (default 127.0.0.1)")
    .addHelpText("after", examples)
    .action(async (_options, command) => {
      const { work } = await import("./worker.ts");
      await work(command.optsWithGlobals(), io, outcome);
    });
};
