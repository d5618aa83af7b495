import { rejectArguments } from "../../errors/unknown-command.ts";
import type { AddCommand } from "../command.ts";

const examples = `
A skill is a folder with a SKILL.md: YAML front matter with \`name\` and \`description\`, then instructions in Markdown.
The agent sees the names and descriptions, and loads a skill when a task fits.

  release-notes/
    SKILL.md
      ---
      name: release-notes
      description: Writes release notes from commits. Use it when the user asks for a changelog.
      ---
      1. List the commits since the last tag. …
    references/style.md       read when SKILL.md says so
    scripts/list-commits.sh   run with the agent's own tools and approvals

Skills are found, in this order, in the folders of \`skills\` in capstan.config.ts, in ~/.capstan/skills, and in
.capstan/skills and .claude/skills of the project. Skills of a project are external content until you trust them: run
capstan with --trust after you have reviewed them. A skill that changes has to be trusted again.

Examples:
  $ capstan skills list
  $ capstan skills check ./release-notes       what is wrong, with file and line; exit code 1 for errors
  $ capstan skills add ./release-notes         copy it to ~/.capstan/skills
  $ capstan skills add ./release-notes --project`;

/** Adds `capstan skills`. */
export const addSkills: AddCommand = (program, io, outcome) => {
  const actions = () => import("./skill-actions.ts");
  const skills = program
    .command("skills")
    .description("list, add and check Agent Skills")
    .addHelpText("after", examples)
    .allowExcessArguments()
    .action(async (_options, command) => {
      await rejectArguments(command);
      await (await actions()).listSkills(command.optsWithGlobals(), io);
    });
  skills
    .command("list")
    .alias("ls")
    .description("list the skills, where they are from, and whether they are trusted")
    .option("--json", "print JSON")
    .action(async (_options, command) => (await actions()).listSkills(command.optsWithGlobals(), io));
  skills
    .command("add")
    .description("check a skill and copy it to ~/.capstan/skills")
    .argument("<folder>", "the folder with its SKILL.md")
    .option("--project", "copy it to .capstan/skills of this project instead")
    .option("--force", "replace a skill of that name")
    .option("--json", "print JSON")
    .action(async (folder, _options, command) => {
      const { addSkill } = await import("./add-skill.ts");
      await addSkill(folder, command.optsWithGlobals(), io);
    });
  skills
    .command("check")
    .description("report problems with file and line")
    .argument("[folder]", "a skill, or a folder of skills; default: all that are found")
    .option("--json", "print JSON")
    .action(async (folder, _options, command) => {
      outcome.exitCode = await (await actions()).checkSkills(folder, command.optsWithGlobals(), io);
    });
};
