import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findTitles } from "./test-titles.ts";

const docs = join(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "threat-model.md"), "utf8");

/** Returns the rows of the table in a section, as cells. */
function readRows(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => line.split(/(?<!\\) \| |^\| | \|$/).slice(1, -1));
}

const statements = ["Guarantees", "Not guaranteed"].flatMap(readRows);

describe("docs/threat-model.md", () => {
  it("names assets, attackers, guarantees and limits", () => {
    for (const heading of ["Assets", "Attackers", "Guarantees", "Not guaranteed"])
      expect(page).toContain(`\n## ${heading}\n`);
    expect(statements.length).toBeGreaterThanOrEqual(20);
  });

  it.each(statements)("%s: the tests named for it exist", (_statement, proof = "") => {
    const links = [...proof.matchAll(/\[([^[]+?)\]\(([^()]+\.test\.tsx?)\)/g)];
    expect(links.length).toBeGreaterThan(0);
    expect(links.length).toBe(proof.split(" · ").length);
    for (const [, title = "", file = ""] of links)
      expect(findTitles(readFileSync(join(docs, file), "utf8")), file).toContain(title);
  });

  it.each(["README.md", "CONTRIBUTING.md", "docs/safety.md"])("is linked from %s", (file) => {
    expect(readFileSync(join(docs, "..", file), "utf8")).toMatch(/\]\((?:docs\/)?threat-model\.md\)/);
  });
});
