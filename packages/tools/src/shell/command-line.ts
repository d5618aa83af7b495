import { escapeInvisible } from "capstan";

/** The program to run: an argument list without a shell, or a script. */
export type Command =
  | { readonly command: readonly string[]; readonly script?: undefined }
  | { readonly script: string; readonly command?: undefined };

/** Formats a command exactly as it runs, for the user to read: arguments quoted, invisible characters escaped. */
export function formatCommand({ command, script }: Command): string {
  return command ? command.map(quoteArgument).join(" ") : script.split("\n").map(escapeInvisible).join("\n");
}

function quoteArgument(argument: string): string {
  if (/^[\w@%+=:,./-]+$/.test(argument)) return argument;
  return escapeInvisible(`'${argument.replaceAll("'", `'\\''`)}'`);
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

// Only programs whose arguments cannot name another program to run: `rg --pre`, `find -exec`, `sort --compress-program`,
// `git fetch --upload-pack` and interpreters are excluded on purpose. `git` has no hooks or local configuration here:
// both are read-only in the sandbox.
const programs = words(
  "ls pwd cat head tail wc grep stat file du df date echo diff cmp tree cut tr uniq nl jq basename dirname realpath which sha256sum md5sum tsc eslint biome prettier vitest jest pytest mypy ruff",
);
const npm = words("test run ls");
const subcommands: { readonly [program: string]: ReadonlySet<string> } = {
  git: words(
    "status diff log show add branch blame rev-parse ls-files stash checkout switch restore commit reset describe shortlog tag",
  ),
  ...{ npm, pnpm: npm, yarn: npm, bun: npm },
  cargo: words("build check test clippy fmt"),
  go: words("build test vet fmt"),
};

/**
 * Returns the set of commands that this one belongs to: those with the same first words, such as `git status *`. Undefined
 * for scripts, which could run anything, and for programs that run others.
 */
export function findPattern({ command }: Command): string | undefined {
  const [program = "", subcommand = "", name = ""] = command ?? [];
  if (programs.has(program)) return `${program} *`;
  if (!(Object.hasOwn(subcommands, program) && subcommands[program]?.has(subcommand))) return undefined;
  if (subcommand !== "run") return `${program} ${subcommand} *`;
  return /^[\w:.-]+$/.test(name) && !name.startsWith("-") ? `${program} run ${name} *` : undefined;
}
