import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { readThreadCpuMs } from "../../../packages/capstan/src/testing/cpu-time.ts";
import { folderDocuments } from "./find-documents.ts";
import { type LibraryOptions, library } from "./library.ts";
import type { SearchIndex } from "./search-index.ts";

/** A folder with these files, for one test. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "knowledge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function opened(options: LibraryOptions): Promise<SearchIndex> {
  const index = await library({ keptIn: false, ...options }).open();
  onTestFinished(() => index.close());
  return index;
}

const found = (index: SearchIndex, query: string, sources?: readonly string[]) =>
  index.search(query, { limit: 5, ...(sources && { sources }) }).map(({ id }) => id);

const project = {
  "README.md": "# Kites\n\nA workshop for kites.",
  "docs/wind.md": "# Wind\n\nHow wind is measured.\n\n## Storm\n\nStay inside.",
  "node_modules/kite/README.md": "# kite\n\nFlies in the wind. Compact.",
  "node_modules/kite/docs/tails.md": "# Tails\n\nA tail keeps it steady.",
  "node_modules/kite/package.json": JSON.stringify({
    homepage: "https://kite.example",
    author: "Ada Vane <ada@example.com> (https://ada.example)",
    contributors: [{ name: "Bo Gale", email: "bo@example.com" }, 7, "  "],
  }),
  "node_modules/@air/spool/readme.md": "# spool\n\nHolds the line of a kite.",
  "node_modules/@air/spool/package.json": JSON.stringify({
    repository: { url: "git+https://code.example/spool.git" },
    maintainers: ["Bo Gale"],
  }),
  "node_modules/broken/package.json": "{",
  "node_modules/.cache/x/README.md": "hidden wind",
};

describe("a search", () => {
  it("finds nothing rather than what only has the usual words of a question", async () => {
    const files = {
      "names.md": "# Names\n\nA good name is short.",
      "more.md": "# More names\n\nAnother good name.",
      "dogs.md": "# Kennel\n\nWhere a dog sleeps.",
    };
    const index = await opened({ folder: folderWith(files) });
    expect(found(index, "a good name for a dog")).toEqual([]);
    expect(found(index, "a good name")).toHaveLength(2);
    const wider = index.search("a good name for a dog", { limit: 5, moreThan: 0 });
    expect(wider).toHaveLength(3);
  });
});

describe("the library of a project", () => {
  it("has its docs and those of installed packages, by section, best first (S3-53)", async () => {
    const index = await opened({ root: folderWith(project) });
    expect(index.documentIds()).toEqual([
      "README.md",
      "docs/wind.md",
      "@air/spool",
      "kite",
      "kite/docs/tails.md",
    ]);
    expect(found(index, "wind measured")).toEqual(["docs/wind.md#wind"]);
    expect(found(index, "What is kite?")[0]).toBe("kite#kite");
    expect(index.search("steady tail", { limit: 1 })).toEqual([
      {
        id: "kite/docs/tails.md#tails",
        document: "kite/docs/tails.md",
        title: "kite/docs/tails.md",
        heading: "Tails",
        text: "A tail keeps it steady.",
        place: "kite/docs/tails.md",
        url: "https://kite.example",
      },
    ]);
    expect(found(index, "wind", ["packages"])).toEqual(["kite#kite"]);
    expect(found(index, "zorgulator")).toEqual([]);
  });

  it("finds passages of each when several documents are named", async () => {
    const index = await opened({ root: folderWith(project) });
    expect(found(index, "compare kite and @air/spool").slice(0, 2).sort()).toEqual([
      "@air/spool#spool",
      "kite#kite",
    ]);
  });

  it("knows people by name and by package, their roles, and no address of mail", async () => {
    const index = await opened({ root: folderWith(project) });
    expect(index.people("Who maintains @air/spool?", 5)).toEqual([
      {
        name: "Bo Gale",
        packages: [
          { name: "@air/spool", role: "maintainer" },
          { name: "kite", role: "contributor" },
        ],
      },
    ]);
    expect(index.people("kite", 5).map(({ name }) => name)).toEqual(["Ada Vane", "Bo Gale"]);
    expect(JSON.stringify(index.people("ada vane", 5))).not.toContain("@example.com");
    expect(index.people("nobody", 5)).toEqual([]);
  });

  it("takes any query as words, never as syntax of FTS5", async () => {
    const index = await opened({ root: folderWith(project) });
    const operator = fc.constantFrom(
      '"',
      "AND",
      "OR",
      "NOT",
      "NEAR(",
      ")",
      "*",
      "^",
      "title:",
      "{a b}:",
      "-",
      "+",
      "wind",
      "\u0000",
      "'",
      ";--",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(operator).map((parts) => parts.join(" ")),
        ),
        (query) => {
          expect(index.search(query, { limit: 3 }).length).toBeLessThanOrEqual(3);
          expect(index.people(query, 3).length).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 150 },
    );
    expect(found(index, 'wind" OR "measured')).toEqual(["docs/wind.md#wind"]);
  });

  it("is kept in a file, and made anew when a document has changed or the file is broken", async () => {
    const root = folderWith(project);
    const keptIn = folderWith({});
    const made: number[] = [];
    const open = async () => {
      let count = 0;
      const index = await library({ root, keptIn }).open(() => {
        count += 1;
      });
      made.push(count);
      return index;
    };
    (await open()).close();
    const again = await open();
    expect(found(again, "storm inside")).toEqual(["docs/wind.md#storm"]);
    again.close();
    writeFileSync(join(root, "docs", "wind.md"), "# Wind\n\nCalm today.");
    const changed = await open();
    expect([found(changed, "storm inside"), found(changed, "calm today")]).toEqual([
      [],
      ["docs/wind.md#wind"],
    ]);
    changed.close();
    writeFileSync(join(keptIn, "knowledge.db"), "not a database");
    (await open()).close();
    utimesSync(join(root, "README.md"), 1, 1);
    (await open()).close();
    expect(made).toEqual([1, 0, 1, 1, 1]);
    expect(readdirSync(keptIn)).toEqual(["knowledge.db"]);
  });
});

describe("a folder of one's own", () => {
  it("has every Markdown and text file in it, follows no link, and looks into no hidden folder", async () => {
    const secret = folderWith({ "secret.md": "# Secret\n\nwind" });
    const folder = folderWith({
      "a.md": "# A\n\nwind",
      "deep/er/b.txt": "wind too",
      ".git/c.md": "wind",
      "d.png": "wind",
    });
    symlinkSync(secret, join(folder, "link"));
    symlinkSync(join(secret, "secret.md"), join(folder, "link.md"));
    const index = await opened({ folder });
    expect(index.documentIds()).toEqual(["a.md", "deep/er/b.txt"]);
    expect(found(index, "wind").sort()).toEqual(["a.md#a", "deep/er/b.txt#top"]);
    expect(index.people("anybody", 3)).toEqual([]);
  });

  it.each([
    [
      "is not there",
      (folder: string) => join(folder, "none"),
      /Cannot search ".*none": there is no such folder/,
    ],
    ["is a file", (folder: string) => join(folder, "a.png"), /Cannot search ".*a\.png": it is not a folder/],
    ["has no texts", (folder: string) => folder, /There is no Markdown or text file in/],
  ])("that %s is refused in plain words", async (_, place, message) => {
    const folder = place(folderWith({ "a.png": "" }));
    await expect(library({ folder, keptIn: false }).open()).rejects.toThrow(message);
  });

  it("is taken in only within bounds", async () => {
    const folder = folderWith({
      "a.md": "12345",
      "b.md": "123456789",
      "c.md": "",
      "d.md": "1234",
      "e.md": "1",
    });
    const ids = async (documents: number, bytes: number, bytesOfOne: number) =>
      (await folderDocuments(folder, { documents, bytes, bytesOfOne })).map(({ id }) => id);
    expect(await ids(9, 99, 99)).toEqual(["a.md", "b.md", "d.md", "e.md"]);
    expect(await ids(2, 99, 99)).toEqual(["a.md", "b.md"]);
    expect(await ids(9, 9, 8)).toEqual(["a.md", "d.md"]);
  });

  it("is looked for again after a failure", async () => {
    const folder = folderWith({});
    const shelf = library({ folder, keptIn: false });
    await expect(shelf.open()).rejects.toThrow();
    writeFileSync(join(folder, "a.md"), "wind");
    const index = await shelf.open();
    onTestFinished(() => index.close());
    expect(found(index, "wind")).toEqual(["a.md#top"]);
  });

  it("is indexed without holding up anybody else for long", async () => {
    const page = Array.from(
      { length: 40 },
      (_, n) => `# Part ${n}\n\n${"words of wind and weather ".repeat(40)}`,
    ).join("\n\n");
    const folder = folderWith(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.md`, page])));
    let longest = 0;
    let last = readThreadCpuMs();
    const ticking = setInterval(() => {
      longest = Math.max(longest, readThreadCpuMs() - last);
      last = readThreadCpuMs();
    }, 5);
    onTestFinished(() => clearInterval(ticking));
    const told: string[] = [];
    const index = await library({ folder, keptIn: false }).open((words) => told.push(words));
    onTestFinished(() => index.close());
    expect(told).toEqual([0, 25, 50].map((count) => `Indexing: ${count} of 60 documents`));
    expect(longest).toBeLessThan(500);
  });
});

describe("a library of one's own documents", () => {
  it("is private, beside being strangers' words; what everybody has installed is public (A100)", () => {
    expect(library({ folder: "anywhere" }).reads).toEqual(["private", "untrusted"]);
    expect(library({ root: "anywhere" }).reads).toEqual(["private", "untrusted"]);
    expect(library().reads).toEqual(["public", "untrusted"]);
  });

  it("is indexed for its owner alone", async () => {
    const keptIn = join(folderWith({}), "data");
    const folder = folderWith({ "diary.md": "Dear diary" });
    await opened({ folder, keptIn });
    expect(statSync(keptIn).mode & 0o777).toBe(0o700);
    expect(statSync(join(keptIn, "knowledge-folder.db")).mode & 0o777).toBe(0o600);
  });

  it("is never mistaken for another folder with files of the same names, sizes and times", async () => {
    const keptIn = folderWith({});
    const folders = ["apple", "berry"].map((word) => folderWith({ "a.md": `The word is ${word}.` }));
    for (const folder of folders) utimesSync(join(folder, "a.md"), 1000, 1000);
    for (const [at, word] of ["apple", "berry"].entries())
      expect(found(await opened({ folder: folders[at] ?? "", keptIn }), word)).toEqual(["a.md#top"]);
  });

  it("has nothing of what a folder of docs that is a link leads to (A35)", async () => {
    const elsewhere = folderWith({ "diary.md": "The secret is plums." });
    const root = folderWith({ "README.md": "# Kites", "node_modules/kite/README.md": "# kite" });
    symlinkSync(elsewhere, join(root, "docs"));
    symlinkSync(elsewhere, join(root, "node_modules", "kite", "docs"));
    expect((await opened({ root })).documentIds()).toEqual(["README.md", "kite"]);
  });
});
