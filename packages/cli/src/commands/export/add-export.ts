import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan export 1f3a > talk.md
  $ capstan export 1f3a --format html -o talk.html    a self-contained page
  $ capstan export 1f3a --format json -o talk.json    all data

Import the JSON file in the studio, or with POST /api/sessions of a server.`;

/** Adds `capstan export`. */
export const addExport: AddCommand = (program, io) => {
  program
    .command("export")
    .description("export a session as Markdown, HTML or JSON")
    .argument("<id>", "session id or a prefix of it")
    .option("--format <format>", "md, json or html", "md")
    .option("-o, --output <file>", "output file; - is stdout", "-")
    .addHelpText("after", examples)
    .action(async (id, _options, command) => {
      const { exportSession } = await import("./export-session.ts");
      await exportSession(id, command.optsWithGlobals(), io);
    });
};
