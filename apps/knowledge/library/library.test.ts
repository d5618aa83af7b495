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
import { findFiles } from "./find-files.ts";
import { createLibrary, type LibraryOptions } from "./library.ts";
import type { SearchIndex } from "./search-index.ts";

/** Creates a temporary folder with these files. */
function createFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "knowledge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function openLibrary(options: LibraryOptions): Promise<SearchIndex> {
  const index = await createLibrary({ indexFolder: false, ...options }).open();
  onTestFinished(() => index.close());
  return index;
}

const searchIds = (index: SearchIndex, query: string, sources?: readonly string[]) =>
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
  it("returns nothing rather than passages that match only common words", async () => {
    const files = {
      "names.md": "# Names\n\nA good name is short.",
      "more.md": "# More names\n\nAnother good name.",
      "dogs.md": "# Kennel\n\nWhere a dog sleeps.",
    };
    const index = await openLibrary({ locations: [createFolder(files)] });
    expect(searchIds(index, "a good name for a dog")).toEqual([]);
    expect(searchIds(index, "a good name")).toHaveLength(2);
    const wider = index.search("a good name for a dog", { limit: 5, isWide: true });
    expect(wider).toHaveLength(3);
  });
});

describe("the library of a project", () => {
  it("searches its docs and the docs of installed packages by section, best first (S3-53)", async () => {
    const index = await openLibrary({ root: createFolder(project) });
    expect(index.listDocumentIds()).toEqual([
      "README.md",
      "docs/wind.md",
      "@air/spool",
      "kite",
      "kite/docs/tails.md",
    ]);
    expect(searchIds(index, "wind measured")).toEqual(["docs/wind.md#wind"]);
    expect(searchIds(index, "What is kite?")[0]).toBe("kite#kite");
    expect(index.search("steady tail", { limit: 1 })).toEqual([
      {
        relevance: 1,
        fragment: ":~:text=A%20tail%20keeps%20it%20steady.&text=Tails",
        id: "kite/docs/tails.md#tails",
        document: "kite/docs/tails.md",
        title: "kite/docs/tails.md",
        heading: "Tails",
        text: "A tail keeps it steady.",
        place: "kite/docs/tails.md",
        url: "https://kite.example",
      },
    ]);
    expect(searchIds(index, "wind", ["packages"])).toEqual(["kite#kite"]);
    expect(searchIds(index, "zorgulator")).toEqual([]);
  });

  it("returns passages of each named document", async () => {
    const index = await openLibrary({ root: createFolder(project) });
    expect(searchIds(index, "compare kite and @air/spool").slice(0, 2).sort()).toEqual([
      "@air/spool#spool",
      "kite#kite",
    ]);
  });

  it("finds contacts by name and by package, with roles and without email addresses", async () => {
    const index = await openLibrary({ root: createFolder(project) });
    expect(index.searchPeople("Who maintains @air/spool?", 5)).toEqual([
      {
        name: "Bo Gale",
        packages: [
          { name: "@air/spool", role: "maintainer" },
          { name: "kite", role: "contributor" },
        ],
      },
    ]);
    expect(index.searchPeople("kite", 5).map(({ name }) => name)).toEqual(["Ada Vane", "Bo Gale"]);
    expect(JSON.stringify(index.searchPeople("ada vane", 5))).not.toContain("@example.com");
    expect(index.searchPeople("nobody", 5)).toEqual([]);
  });

  it("treats any query as words, never as FTS5 syntax", async () => {
    const index = await openLibrary({ root: createFolder(project) });
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
          expect(index.searchPeople(query, 3).length).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 150 },
    );
    expect(searchIds(index, 'wind" OR "measured')).toEqual(["docs/wind.md#wind"]);
  });

  it("is stored in a file, and rebuilt when a document changes or the file is broken", async () => {
    const root = createFolder(project);
    const indexFolder = createFolder({});
    const made: number[] = [];
    const open = async () => {
      let count = 0;
      const index = await createLibrary({ root, indexFolder }).open(() => {
        count += 1;
      });
      made.push(count);
      return index;
    };
    (await open()).close();
    const again = await open();
    expect(searchIds(again, "storm inside")).toEqual(["docs/wind.md#storm"]);
    again.close();
    writeFileSync(join(root, "docs", "wind.md"), "# Wind\n\nCalm today.");
    const changed = await open();
    expect([searchIds(changed, "storm inside"), searchIds(changed, "calm today")]).toEqual([
      [],
      ["docs/wind.md#wind@2"], // a session keeps the text it has seen under the first id
    ]);
    changed.close();
    writeFileSync(join(indexFolder, "knowledge.db"), "not a database");
    (await open()).close();
    utimesSync(join(root, "README.md"), 1, 1);
    (await open()).close();
    expect(made).toEqual([1, 0, 1, 1, 1]);
    expect(readdirSync(indexFolder)).toEqual(["knowledge.db"]);
  });
});

describe("a custom folder", () => {
  it("includes every Markdown and text file, follows no links, and skips hidden folders", async () => {
    const secret = createFolder({ "secret.md": "# Secret\n\nwind" });
    const folder = createFolder({
      "a.md": "# A\n\nwind",
      "deep/er/b.txt": "wind too",
      ".git/c.md": "wind",
      "d.png": "wind",
    });
    symlinkSync(secret, join(folder, "link"));
    symlinkSync(join(secret, "secret.md"), join(folder, "link.md"));
    const index = await openLibrary({ locations: [folder] });
    expect(index.listDocumentIds()).toEqual(["a.md", "deep/er/b.txt"]);
    expect(searchIds(index, "wind").sort()).toEqual(["a.md#a", "deep/er/b.txt#top"]);
    expect(index.searchPeople("anybody", 3)).toEqual([]);
  });

  it.each([
    ["is not there", (folder: string) => join(folder, "none"), /Cannot search ".*none": it does not exist/],
    [
      "is an image",
      (folder: string) => join(folder, "a.png"),
      "There is no document to search. a.png: Files of type .png are not read.",
    ],
    [
      "has no texts",
      (folder: string) => folder,
      "There is no document to search. a.png: Files of type .png are not read.",
    ],
  ])("that %s is refused with a clear error", async (_, place, message) => {
    const folder = place(createFolder({ "a.png": "" }));
    await expect(createLibrary({ locations: [folder], indexFolder: false }).open()).rejects.toThrow(message);
  });

  it("is indexed within bounds", async () => {
    const folder = createFolder({
      "a.md": "12345",
      "b.md": "123456789",
      "c.md": "",
      "d.md": "1234",
      "e.md": "1",
    });
    const find = async (files: number, bytes: number, bytesPerFile: number, visits = 99) => {
      const { documents, skipped } = await findFiles([folder], { files, bytes, bytesPerFile, visits });
      return [...documents.map(({ id }) => id), ...skipped.map(({ item, reason }) => `${item}: ${reason}`)];
    };
    const empty = "c.md: The file is empty.";
    expect(await find(9, 99, 99)).toEqual(["a.md", "b.md", "d.md", "e.md", empty]);
    expect(await find(3, 99, 99)).toEqual([
      "a.md",
      "b.md",
      empty,
      "d.md: Only the first 3 files are read.",
      "e.md: Only the first 3 files are read.",
    ]);
    expect(await find(9, 9, 8)).toEqual([
      "a.md",
      "d.md",
      "b.md: The file is larger than 0 MB.",
      empty,
      "e.md: Only 0 MB are read in all.",
    ]);
    expect(await find(9, 99, 99, 4)).toContain("e.md: Only the first 4 entries are looked at.");
  });

  it("is tried again after a failure", async () => {
    const folder = createFolder({});
    const library = createLibrary({ locations: [folder], indexFolder: false });
    await expect(library.open()).rejects.toThrow();
    writeFileSync(join(folder, "a.md"), "wind");
    const index = await library.open();
    onTestFinished(() => index.close());
    expect(searchIds(index, "wind")).toEqual(["a.md#top"]);
  });

  it("is indexed without blocking the event loop for long", async () => {
    const page = Array.from(
      { length: 40 },
      (_, n) => `# Part ${n}\n\n${"words of wind and weather ".repeat(40)}`,
    ).join("\n\n");
    const folder = createFolder(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.md`, page])));
    let longest = 0;
    let last = readThreadCpuMs();
    const ticking = setInterval(() => {
      longest = Math.max(longest, readThreadCpuMs() - last);
      last = readThreadCpuMs();
    }, 5);
    onTestFinished(() => clearInterval(ticking));
    const told: string[] = [];
    const index = await createLibrary({ locations: [folder], indexFolder: false }).open((words) =>
      told.push(words),
    );
    onTestFinished(() => index.close());
    expect(told).toEqual([0, 25, 50].map((count) => `Indexing: ${count} of 60 documents`));
    expect(longest).toBeLessThan(500);
  });
});

describe("a library of the user's own documents", () => {
  it("is private and untrusted; installed packages are public (A100)", () => {
    expect(createLibrary({ locations: ["anywhere"] }).reads).toEqual(["private", "untrusted"]);
    expect(createLibrary({ root: "anywhere" }).reads).toEqual(["private", "untrusted"]);
    expect(createLibrary().reads).toEqual(["public", "untrusted"]);
  });

  it("stores an index readable only by the owner", async () => {
    const indexFolder = join(createFolder({}), "data");
    const folder = createFolder({ "diary.md": "Dear diary" });
    await openLibrary({ locations: [folder], indexFolder });
    expect(statSync(indexFolder).mode & 0o777).toBe(0o700);
    expect(statSync(join(indexFolder, "knowledge-folder.db")).mode & 0o777).toBe(0o600);
  });

  it("is distinguished from a folder with files of the same names, sizes and times", async () => {
    const indexFolder = createFolder({});
    const folders = ["apple", "berry"].map((word) => createFolder({ "a.md": `The word is ${word}.` }));
    for (const folder of folders) utimesSync(join(folder, "a.md"), 1000, 1000);
    for (const [at, word] of ["apple", "berry"].entries()) {
      const index = await openLibrary({ locations: [folders[at] ?? ""], indexFolder });
      expect(index.search(word, { limit: 5 })).toMatchObject([{ text: `The word is ${word}.` }]);
    }
  });

  it("does not follow a docs folder that is a link (A35)", async () => {
    const elsewhere = createFolder({ "diary.md": "The secret is plums." });
    const root = createFolder({ "README.md": "# Kites", "node_modules/kite/README.md": "# kite" });
    symlinkSync(elsewhere, join(root, "docs"));
    symlinkSync(elsewhere, join(root, "node_modules", "kite", "docs"));
    expect((await openLibrary({ root })).listDocumentIds()).toEqual(["README.md", "kite"]);
  });
});
