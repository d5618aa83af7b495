import type { CommandWords, Word } from "./list-commands.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Returns a script that completes the commands. Where nothing matches, the shell completes files. */
export function buildScript(shell: Shell, commands: readonly CommandWords[]): string {
  return { bash: buildBash, zsh: buildZsh, fish: buildFish }[shell](commands);
}

const toPattern = (path: readonly string[]): string => quote(path.join(" "));
/** Quotes a text for any of the shells. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const joinWords = (words: readonly { readonly word: string }[]): string =>
  words.map(({ word }) => word).join(" ");

/** Finds the command before the cursor. */
const findPath = (words: string, known: string) => `  local word known=${known} command=""
  for word in ${words}; do
    case "$known" in *"|\${command:+$command }$word|"*) command="\${command:+$command }$word" ;; esac
  done`;

function listKnown(commands: readonly CommandWords[]): string {
  return quote(`|${commands.map(({ path }) => path.join(" ")).join("|")}|`);
}

/** Returns the options that have choices, once each. */
function listChoices(commands: readonly CommandWords[]): (Word & { readonly choices: readonly string[] })[] {
  const found = new Map(
    commands.flatMap(({ options }) =>
      options.flatMap(({ choices, ...option }) => (choices ? [[option.word, { ...option, choices }]] : [])),
    ),
  );
  return [...found.values()];
}

function buildBash(commands: readonly CommandWords[]): string {
  const cases = commands.map(
    ({ path, subcommands, options, choices }) =>
      `    ${toPattern(path)}) words=${quote([joinWords(subcommands), ...choices].join(" ").trim())}; options=${quote(joinWords(options))} ;;`,
  );
  const values = listChoices(commands).map(
    ({ word, choices }) =>
      `    ${word}) COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$current")); return ;;`,
  );
  return `# Completion of capstan for bash.
_capstan() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" words options
  COMPREPLY=()
  case "$previous" in
${values.join("\n")}
  esac
${findPath(`"\${COMP_WORDS[@]:1:COMP_CWORD - 1}"`, listKnown(commands))}
  case "$command" in
${cases.join("\n")}
  esac
  [[ "$current" == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _capstan capstan
`;
}

function buildZsh(commands: readonly CommandWords[]): string {
  const describe = ({ word, about }: Word) => quote(`${word.replaceAll(":", "\\:")}:${about}`);
  const cases = commands.map(
    ({ path, subcommands, options, choices }) =>
      `    ${toPattern(path)})
      words=(${[...subcommands.map(describe), ...choices.map(quote)].join(" ")})
      options=(${options.map(describe).join(" ")}) ;;`,
  );
  const values = listChoices(commands).map(
    ({ word, choices }) => `    ${word}) compadd -- ${choices.map(quote).join(" ")}; return ;;`,
  );
  return `#compdef capstan
# Completion of capstan for zsh.
_capstan() {
  local -a words_before=("\${(@)words[2,CURRENT-1]}") options
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  case "$previous" in
${values.join("\n")}
  esac
${findPath(`"\${words_before[@]}"`, listKnown(commands))}
  local -a words
  case "$command" in
${cases.join("\n")}
  esac
  if [[ "$current" == -* ]]; then _describe option options
  elif (( \${#words} )); then _describe command words
  else _files
  fi
}
if [ "\${funcstack[1]}" = "_capstan" ]; then _capstan "$@"; else compdef _capstan capstan; fi
`;
}

function buildFish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, subcommands, options, choices }) => {
    const complete = (rest: string) =>
      `complete -c capstan -n ${quote(`__capstan_at ${quote(path.join(" "))}`)} ${rest}`;
    return [
      ...subcommands.map(({ word, about }) => complete(`-f -a ${quote(word)} -d ${quote(about)}`)),
      ...(choices.length > 0 ? [complete(`-f -a ${quote(choices.join(" "))}`)] : []),
      ...options.map((option) =>
        complete(
          `-l ${option.word.slice(2)} -d ${quote(option.about)}${option.choices ? ` -x -a ${quote(option.choices.join(" "))}` : ""}`,
        ),
      ),
    ];
  });
  return `# Completion of capstan for fish.
function __capstan_at
  set -l command
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$command $word")
    contains -- $next ${commands.flatMap(({ path }) => (path.length > 0 ? [toPattern(path)] : [])).join(" ")}; and set command $next
  end
  test "$command" = "$argv[1]"
end
${lines.join("\n")}
`;
}
