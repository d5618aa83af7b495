import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { factVersion } from "./event.ts";

/** Databases that a version wrote are recorded when it is finished. */
const sources = join(import.meta.dirname, "..");
const recordings = join(import.meta.dirname, "../../../verification/src/versions/fixtures");

it("the version of the facts is raised when their shape changes (F78)", async () => {
  const isRecorded = existsSync(join(recordings, `version-${factVersion}.db.gz`));
  const whatToDo = isRecorded
    ? `The shape of the facts has changed, and databases with facts of version ${factVersion} exist: raise \`factVersion\` in event.ts.`
    : `The shape of the facts has changed within version ${factVersion}, which is not recorded yet: check that facts of earlier versions still fold, then update the file with \`vitest run --update=all event.test.ts\`.`;
  await expect(describeFacts()).toMatchFileSnapshot(`fixtures/facts-version-${factVersion}.txt`, whatToDo);
});

it("the databases of every earlier version are recorded (F78)", () => {
  for (let version = 1; version < factVersion; version++)
    for (const name of ["db", "sql"])
      expect(globSync(`version-${version}.${name}.gz`, { cwd: recordings })).toHaveLength(1);
});

/** Returns the type of a fact with every type that it refers to, without comments. */
function describeFacts(): string {
  const types = readTypes();
  const found = new Map<string, string>();
  const queue = ["Fact"];
  for (const name of queue) {
    const body = types.get(name);
    if (body === undefined || found.has(name)) continue;
    found.set(name, body);
    queue.push(...(body.match(/\b[A-Z]\w*/g) ?? []));
  }
  const lines = (body: string) => body.replaceAll("; ", ";\n  ").replaceAll(" | {", "\n  | {");
  return [...found]
    .sort()
    .map(([name, body]) => `${name} =\n  ${lines(body)}\n`)
    .join("\n");
}

/** Reads the type declarations of the vocabulary, normalized. */
function readTypes(): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const file of globSync(
    [
      "base/*.ts",
      "kernel/{event,history,model,policy,provenance,tool,call-check,approval-scope}.ts",
      "kernel/settings/*.ts",
    ],
    {
      cwd: sources,
      exclude: ["**/*.test.ts", "**/*.test-d.ts"],
    },
  )) {
    const source = readFileSync(join(sources, file), "utf8")
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/^\s*\/\/.*$/gm, "");
    for (const [, name = "", body = ""] of source.matchAll(
      /^(?:export )?type (\w+)(?:<.*>)? =([\s\S]*?);\n(?=[^\s}]|\n|$)/gm,
    ))
      types.set(
        name,
        body
          .replace(/\breadonly /g, "")
          .replace(/\s+/g, " ")
          .replace(/^ \| /, "")
          .trim(),
      );
  }
  return types;
}
