import { posix, win32 } from "node:path";

type Command = { readonly command: string; readonly args?: readonly string[] | undefined };

/** Words and options between a program that starts others and what it starts. */
const startWords = /^(?:run|exec|dlx|-y|--yes|-m|-u)$/;
const scriptPattern = /\.(?:[cm]?[jt]s|py|rb|jar|sh|php)$/i;
/** A program or a package. Anything else may be a line of code, or contain a secret. */
const programPattern = /^[\w@.:~/\\-]{1,100}$/;

/**
 * Names the program of a server: "node weather.js", "npx @acme/weather". Of the arguments, which may contain secrets and
 * paths of this machine, only what the command starts is named: a script, or the first argument.
 */
export function formatCommand({ command, args = [] }: Command): string {
  const isLauncher = /^(?:node|bunx?|deno|p?npx|p?npm|yarn|python[\d.]*|uvx?|pipx|ruby|java|php)$/;
  const name = getFileName(command).replace(/\.(?:exe|cmd)$/i, "");
  if (!isLauncher.test(name)) return name;
  const isProgram = (arg: string) => !arg.startsWith("-") && programPattern.test(arg);
  const first = args.find((arg) => !startWords.test(arg));
  const program =
    args.find((arg) => isProgram(arg) && scriptPattern.test(arg)) ??
    (first !== undefined && isProgram(first) ? first : undefined);
  return program === undefined ? name : `${name} ${getProgramName(program)}`;
}

const getFileName = (path: string): string => win32.basename(posix.basename(path));

/** The name of a scoped package contains a slash. */
const getProgramName = (program: string): string =>
  program.startsWith("@") && !scriptPattern.test(program) ? program : getFileName(program);
