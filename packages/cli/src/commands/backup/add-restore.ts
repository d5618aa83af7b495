import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan restore /backups/capstan-2026-11-16.db
  $ capstan restore /backups/capstan-2026-11-16.db --replace    keeps the current database under another name

Stop the server first. Runs that were active at the time of the backup continue from there.
For a postgres:// database, use pg_restore.`;

/** Adds `capstan restore`. */
export const addRestore: AddCommand = (program, io) => {
  program
    .command("restore")
    .description("use a backup as the database")
    .argument("<file>", "file that `capstan backup` wrote")
    .option("--replace", "replace the current database; it is kept under another name")
    .addHelpText("after", examples)
    .action(async (file, _options, command) => {
      const { restoreDatabase } = await import("./backup-actions.ts");
      await restoreDatabase(file, command.optsWithGlobals(), io);
    });
};
