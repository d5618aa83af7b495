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

// Only programs that read, and whose arguments can name neither a program to run, nor a file to write, nor settings that do
// either. Excluded on purpose: `rg --pre`, `find -exec`, `sort -o`, `uniq in out`, `tree -o`, `file -C`, `date -s`; all
// builds, tests and linters (`npm run --script-shell`, `cargo --config`, `go test -exec`, `eslint -c`, `prettier --plugin`,
// `tsc --outFile`), which execute what a setting names; and interpreters.
const programs = words(
  "ls pwd cat head tail wc grep stat du df echo diff cmp cut tr nl jq basename dirname realpath which sha256sum md5sum",
);
const gitSubcommands = words("status diff log show blame rev-parse ls-files describe shortlog");
// `--output` writes a file, and `--ext-diff` starts a program. Some commands also accept the beginning of an option.
const gitOption = /^--(?:ou|ext)/;

/**
 * Returns the set of commands that this one belongs to: those with the same first words, such as `git status *`. Undefined
 * for scripts, which could run anything, and for programs that write files or run others.
 */
export function findPattern({ command }: Command): string | undefined {
  const [program = "", subcommand = "", ...rest] = command ?? [];
  if (programs.has(program)) return `${program} *`;
  if (program !== "git" || !gitSubcommands.has(subcommand)) return undefined;
  return rest.some((argument) => gitOption.test(argument)) ? undefined : `git ${subcommand} *`;
}
