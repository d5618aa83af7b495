import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan backup /backups/capstan-$(date +%F).db
  $ capstan restore /backups/capstan-2026-11-16.db --replace    after stopping the server

The server may keep running. The copy has all sessions, keys and stored agents, and is readable only by you.
For a postgres:// database, use pg_dump.`;

/** Adds `capstan backup`. */
export const addBackup: AddCommand = (program, io) => {
  program
    .command("backup")
    .description("copy the database to a file while it is in use")
    .argument("<file>", "new file for the copy")
    .addHelpText("after", examples)
    .action(async (file, _options, command) => {
      const { backUpDatabase } = await import("./backup-actions.ts");
      await backUpDatabase(file, command.optsWithGlobals(), io);
    });
};
