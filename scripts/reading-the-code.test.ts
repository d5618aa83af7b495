import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const docs = join(import.meta.dirname, "../docs");
const reading = readFileSync(join(docs, "reading-the-code.md"), "utf8");
const architecture = readFileSync(join(docs, "architecture.md"), "utf8");

/** Returns whether the file declares the name as a function, constant, type or interface, at any depth. */
function declares(file: string, name: string): boolean {
  const source = readFileSync(join(docs, file), "utf8");
  return new RegExp(`\\b(?:function\\*?|const|type|interface)\\s+${name}\\b`).test(source);
}

/** Links of the form [`name`](../path.ts), where the name is not itself a file name. */
function listNamedLinks(page: string): [name: string, file: string][] {
  const links = [...page.matchAll(/\[`(\w+)`\]\((\.\.\/[^)]+\.ts)\)/g)];
  return links.map(([, name = "", file = ""]) => [name, file]);
}

const sources = join(import.meta.dirname, "../packages/capstan/src");

/** The wrappers of a step, outermost first: a later statement of `createStep` wraps the one before. */
function readChain(): string {
  const engine = readFileSync(join(sources, "runtime/engine.ts"), "utf8");
  const [, createStep = ""] = /^function createStep\(([\s\S]+?)^}/m.exec(engine) ?? [];
  const statements = createStep
    .split("\n")
    .map((line) => line.match(/\bwith(?!MaskedIo)[A-Z]\w+(?=\()/g) ?? []);
  const wrappers = statements.reverse().flat();
  return `${wrappers.map((name) => `${name}(`).join("")}perform${")".repeat(wrappers.length)}`;
}

describe.each([reading, architecture])("the page", (page) => {
  it("shows the chain of steps as the code composes it", () => {
    expect(page).toContain(`\`${readChain()}\``);
  });
});

describe("docs/reading-the-code.md", () => {
  it("has at most twelve steps", () => {
    const steps = reading.match(/^\d+\. /gm) ?? [];
    expect(steps.length).toBeGreaterThan(8);
    expect(steps.length).toBeLessThanOrEqual(12);
  });

  it("says how many rules there are", () => {
    const decide = readFileSync(join(sources, "runtime/decide.ts"), "utf8");
    const [, rules = ""] = /const rules: readonly Rule\[\] = \[([^\]]+)\]/.exec(decide) ?? [];
    expect(reading).toContain(`asks ${rules.match(/\w+/g)?.length} rules in order`);
  });

  it.each(listNamedLinks(reading))("%s is declared in the file it links to: %s", (name, file) => {
    expect(existsSync(join(docs, file)), `${file} does not exist`).toBe(true);
    expect(declares(file, name), `${file} does not declare ${name}`).toBe(true);
  });
});

describe("the table “Where is …” of docs/architecture.md", () => {
  const table = architecture.slice(
    architecture.indexOf("## Where is …"),
    architecture.indexOf("## Where to add …"),
  );
  const rows = table.split("\n").filter((line) => line.includes("]("));

  it.each([
    "wrap-up turn",
    "retry of a 429",
    "resume after a crash",
    "Anthropic's thinking signature",
    "AG-UI tool arguments",
    "approval digest",
    "compaction trigger",
    "citation numbers",
    "idempotency key",
    "redirect check of web_fetch",
    "studio reconnect",
    "Ctrl-C in the CLI",
  ])("has a row for each behavior that newcomers look for: %s", (behavior) => {
    expect(rows.filter((row) => row.startsWith(`| ${behavior} | [`))).toHaveLength(1);
  });

  it.each(rows)("links to files that declare the functions they name: %s", (row) => {
    const places = [...row.matchAll(/\]\((\.\.\/[^)]+)\)((?: `\w+`)?)/g)];
    expect(places.length).toBeGreaterThan(0);
    for (const [, file = "", name = ""] of places) {
      expect(existsSync(join(docs, file)), `${file} does not exist`).toBe(true);
      const bare = name.replaceAll(/[ `]/g, "");
      if (bare !== "") expect(declares(file, bare), `${file} does not declare ${bare}`).toBe(true);
    }
  });

  it("reaches each file within three folders of its package", () => {
    for (const [, file = ""] of table.matchAll(/\]\(\.\.\/packages\/\w+\/src\/([^)]+)\)/g))
      expect(file.split("/").length, file).toBeLessThanOrEqual(3);
  });
});
