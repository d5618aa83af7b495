// Reads the container file of the kit. It has no instructions that continue on the next line.

/** An instruction: `COPY --from=packages /a /b` has the flag `from` and two arguments. */
export type Instruction = {
  readonly keyword: string;
  readonly flags: Readonly<Record<string, string>>;
  /** Words, or the values of a JSON list. */
  readonly words: readonly string[];
  readonly text: string;
};

/** A stage of the build, from `FROM` to the next one. */
export type Stage = {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
};

export function parseContainerFile(text: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const instruction = parseInstruction(line);
    const [base = "", , name = ""] = instruction.words;
    if (instruction.keyword === "FROM") stages.push({ base, name, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

function parseInstruction(line: string): Instruction {
  const [, keyword = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  const [flagText = ""] = /^(?:--\S+\s+)*/.exec(rest) ?? [];
  const flags = [...flagText.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  const text = rest.slice(flagText.length);
  const list = text.replace(/^CMD\s+/, "");
  const words = list.startsWith("[") ? JSON.parse(list) : text.split(/\s+/);
  return { keyword, flags: Object.fromEntries(flags), words, text };
}

/** Returns the instructions of a stage with this keyword. */
export function findInstructions({ instructions }: Stage, keyword: string): Instruction[] {
  return instructions.filter((instruction) => instruction.keyword === keyword);
}

/** Returns the variables that a stage sets. */
export function getVariables(stage: Stage): Record<string, string> {
  const pairs = findInstructions(stage, "ENV").flatMap(({ words }) => words);
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}

/** Returns one line per departure from our rules for images. */
export function checkContainerFile(text: string): string[] {
  const stages = parseContainerFile(text);
  const final = stages.at(-1);
  if (!final) return ["It has no stage."];
  const problems = stages.flatMap(({ base }) =>
    /^[a-z]+:\d+\.\d+\.\d+-slim$/.test(base) ? [] : [`${base} is not a slim image with an exact version.`],
  );
  const [user] = findInstructions(final, "USER").at(-1)?.words ?? [];
  if (!/^[1-9]\d*:[1-9]\d*$/.test(user ?? "")) problems.push("The user is not a number other than 0.");
  if (/\b(?:ENV|ARG)\s+\S*(?:KEY|SECRET|PASSWORD|TOKEN)/i.test(text)) problems.push("It contains a secret.");
  if (/^\s*ADD\b/m.test(text)) problems.push("ADD can download: use COPY.");
  for (const keyword of ["HEALTHCHECK", "CMD"])
    if (!/\[.*\]$/.test(findInstructions(final, keyword).at(-1)?.text ?? ""))
      problems.push(`${keyword} needs a shell, or is missing.`);
  const copied = findInstructions(final, "COPY").map(({ flags, words }) => flags.from ?? words[0]);
  if (copied.at(-1) !== "." || copied.indexOf(".") !== copied.length - 1)
    problems.push("The code is not copied last.");
  if (
    stages.slice(0, -1).some((stage) => findInstructions(stage, "COPY").some(({ words }) => words[0] === "."))
  )
    problems.push("The packages are installed again whenever the code changes.");
  return problems;
}
