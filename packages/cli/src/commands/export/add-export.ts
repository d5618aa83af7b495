import type { AddCommand } from "../command.ts";

const examples = `
Examples:
  $ capstan export 1f3a > talk.md
  $ capstan export 1f3a --format html -o talk.html    one page that needs nothing else
  $ capstan export 1f3a --format json -o talk.json    everything

The JSON file can be imported where a server runs: in the studio, or with POST /api/sessions.`;

/** `capstan export`: a session as a text. */
export const addExport: AddCommand = (program, io) => {
  program
    .command("export")
    .description("write a session as Markdown, HTML or JSON")
    .argument("<id>", "of the session, or its beginning")
    .option("--format <format>", "md, json or html", "md")
    .option("-o, --output <file>", "where to; - is stdout", "-")
    .addHelpText("after", examples)
    .action(async (id, _options, command) => {
      const { exportSession } = await import("./export-session.ts");
      await exportSession(id, command.optsWithGlobals(), io);
    });
};
