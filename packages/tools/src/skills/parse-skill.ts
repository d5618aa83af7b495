// Parses `SKILL.md` of the open Agent Skills format (agentskills.io): YAML front matter between two lines `---`, then
// Markdown. The file may be untrusted: all values are read as strings, aliases are never resolved, and no
// problem quotes the file.
import { createRequire } from "node:module";
import type { Node, Pair, YAMLMap } from "yaml";

/** A problem of a `SKILL.md`. A skill with an error cannot be used. */
export type SkillProblem = {
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly message: string;
};

/** The front matter of a skill. */
export type SkillMetadata = {
  readonly name: string;
  /** What the skill does and when to use it, on one line. */
  readonly description: string;
  readonly license?: string;
  /** What the skill needs: programs, network access, a product. */
  readonly compatibility?: string;
  /** Tools that the skill is written for. Grants nothing. */
  readonly allowedTools?: string;
  readonly metadata?: Readonly<Record<string, string>>;
};

export type ParsedSkill = {
  /** Undefined if there is an error. */
  readonly metadata?: SkillMetadata;
  readonly body: string;
  readonly problems: readonly SkillProblem[];
};

const maxFrontMatter = 8_000;
const maxBodyLines = 500;
const frontMatter = /^\uFEFF?---[ \t]*\r?\n((?:[\s\S]*?\n)?)---[ \t]*(?:\r?\n|$)/;

/** The names of skills: lowercase letters, digits and single hyphens. */
export function isSkillName(name: string): boolean {
  return name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** Parses the text of a `SKILL.md` whose folder has this name. */
export function parseSkill(text: string, folderName: string): ParsedSkill {
  const [block, source] = frontMatter.exec(text) ?? [];
  if (block === undefined || source === undefined)
    return createFailure(1, "The file must start with YAML front matter between two lines `---`.");
  if (source.length > maxFrontMatter)
    return createFailure(1, `The front matter has more than ${maxFrontMatter} characters.`);
  const problems: SkillProblem[] = [];
  const report: Report = (line, severity, message) => problems.push({ line, severity, message });
  const fields = parseFields(source, report);
  const metadata = fields && readMetadata(fields, folderName, report);
  const body = text.slice(block.length).trim();
  const firstLine = block.split("\n").length;
  if (body === "") report(firstLine, "warning", "The skill has no text after the front matter.");
  if (body.split("\n").length > maxBodyLines)
    report(
      firstLine,
      "warning",
      `The text has more than ${maxBodyLines} lines: move details to other files.`,
    );
  const isValid = problems.every(({ severity }) => severity !== "error");
  return { ...(metadata && isValid && { metadata }), body, problems };
}

function createFailure(line: number, message: string): ParsedSkill {
  return { body: "", problems: [{ line, severity: "error", message }] };
}

type Report = (line: number, severity: SkillProblem["severity"], message: string) => void;
type Field = { readonly line: number; readonly value: unknown };

/** Loaded on demand: most programs that import this package have no skills. */
const loadYaml = (): typeof import("yaml") => createRequire(import.meta.url)("yaml");

/** Parses the fields of the front matter: strings, lists of strings, and maps of strings; anything else is undefined. */
function parseFields(source: string, report: Report): ReadonlyMap<string, Field> | undefined {
  const yaml = loadYaml();
  const lineCounter = new yaml.LineCounter();
  // The line `---` comes before the source.
  const findLine = (offset: number) => lineCounter.linePos(offset).line + 1;
  try {
    // With the failsafe schema every scalar is a string: no dates, no numbers, no custom types.
    const document = yaml.parseDocument(source, { schema: "failsafe", lineCounter, prettyErrors: false });
    for (const { pos, code } of document.errors)
      report(
        findLine(pos[0]),
        "error",
        `The front matter is not valid YAML (${code}). Quote texts that contain a colon.`,
      );
    if (document.errors.length > 0) return undefined;
    if (yaml.isMap(document.contents)) return readFields(document.contents, yaml, findLine);
  } catch {
    // Too deeply nested for the parser.
  }
  report(2, "error", "The front matter must be a YAML map, such as `name: my-skill`.");
  return undefined;
}

type Yaml = ReturnType<typeof loadYaml>;

function readFields(
  map: YAMLMap,
  yaml: Yaml,
  findLine: (offset: number) => number,
): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const { key, value } of map.items as readonly Pair<Node, Node | null>[]) {
    const name = readScalar(key, yaml);
    const line = findLine(key.range?.[0] ?? 0);
    if (name !== undefined) fields.set(name, { line, value: readNode(value, yaml) });
  }
  return fields;
}

const readScalar = (node: Node | null, yaml: Yaml): string | undefined =>
  yaml.isScalar(node) ? String(node.value ?? "") : undefined;

function readNode(node: Node | null, yaml: Yaml): unknown {
  if (yaml.isSeq(node)) {
    const texts = node.items.map((item) => readScalar(item as Node, yaml));
    return texts.every((text) => text !== undefined) ? texts.join(" ") : undefined;
  }
  if (!yaml.isMap(node)) return node === null ? "" : readScalar(node, yaml);
  const entries = (node.items as readonly Pair<Node, Node | null>[]).map(({ key, value }) => [
    readScalar(key, yaml),
    value === null ? "" : readScalar(value, yaml),
  ]);
  return entries.every((entry) => entry.every((text) => text !== undefined))
    ? Object.fromEntries(entries)
    : undefined;
}

const knownFields = ["name", "description", "license", "compatibility", "allowed-tools", "metadata"];

function readMetadata(
  fields: ReadonlyMap<string, Field>,
  folderName: string,
  report: Report,
): SkillMetadata | undefined {
  const name = fields.get("name");
  const description = fields.get("description");
  if (typeof name?.value !== "string" || !isSkillName(name.value))
    report(name?.line ?? 1, "error", "`name` must be 1 to 64 lowercase letters, digits and single hyphens.");
  else if (name.value !== folderName)
    report(name.line, "error", "`name` must be the name of the skill's folder.");
  const purpose = typeof description?.value === "string" ? description.value.trim() : "";
  if (purpose === "" || purpose.length > 1024)
    report(description?.line ?? 1, "error", "`description` must be a text of 1 to 1,024 characters.");
  for (const [field, { line }] of fields)
    if (!knownFields.includes(field))
      report(line, "warning", "A field is not part of the format: it is ignored.");
  const readOptional = (field: string, maxLength: number) => {
    const { line = 1, value } = fields.get(field) ?? {};
    if (typeof value === "string" && value !== "" && value.length <= maxLength) return value;
    if (fields.has(field))
      report(line, "warning", `\`${field}\` must be a text of 1 to ${maxLength} characters: it is ignored.`);
    return undefined;
  };
  const license = readOptional("license", 500);
  const compatibility = readOptional("compatibility", 500);
  const allowedTools = readOptional("allowed-tools", 2000);
  const metadata = fields.get("metadata");
  const isMap = typeof metadata?.value === "object";
  if (metadata && !isMap)
    report(metadata.line, "warning", "`metadata` must be a map of strings: it is ignored.");
  return {
    name: String(name?.value),
    description: purpose.replaceAll(/\s+/g, " "),
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...(isMap && { metadata: metadata.value as Record<string, string> }),
  };
}
