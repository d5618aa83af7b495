import { Option } from "commander";
import type { AddCommand } from "../commands/command.ts";
import { templates } from "./project-files.ts";

const examples = `
Templates:
${Object.entries(templates)
  .map(([name, about]) => `  ${name.padEnd(10)} ${about}`)
  .join("\n")}

Examples:
  $ capstan init my-agent                     in a new folder
  $ capstan init my-api --template server
  $ capstan init --yes                        in this one, with the template chat
  $ npm create capstan my-agent               the same, without an installation

Existing files are never overwritten.`;

/** Adds `capstan init`. */
export const addInit: AddCommand = (program, io) => {
  program
    .command("init")
    .description("create a small project: an agent, its tools and a test")
    .argument("[folder]", "target folder, created if missing")
    .addOption(new Option("-t, --template <name>", "what to create").choices(Object.keys(templates)))
    .option("-y, --yes", "do not ask: use this folder and the template chat by default")
    .addHelpText("after", examples)
    .action(async (folder, flags) => {
      const { createProject: init } = await import("./create-project.ts");
      await init(folder, flags, io);
    });
};
