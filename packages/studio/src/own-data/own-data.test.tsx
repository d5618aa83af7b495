import type { DataLoaderInfo, DataSourceInfo } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { Router } from "wouter";
import { FileLink, parseFileAddress } from "./file-link.tsx";
import { findAcceptingApps, type PickedFile, readInput, selectFiles, suggestTitle } from "./picked-files.ts";
import { parseSettings } from "./setting-fields.tsx";
import { SourceList } from "./source-list.tsx";

// The client of the page asks where it is.
vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1")));

const pick = (...paths: string[]): readonly PickedFile[] =>
  paths.map((path) => ({ path, file: new File([], path) }));
const createApp = (app: string, extensions: string[], acceptsFolders = true): DataLoaderInfo => ({
  ...{ app, extensions, acceptsFolders, description: app, schemes: [], settings: {} },
});

describe("chosen files", () => {
  const notes = createApp("notes", [".md", ".txt"]);

  it("are those that the app reads; the others are counted with their types", () => {
    const files = pick("trip/a.MD", "trip/b.png", "trip/deep/c.txt", "trip/Makefile");
    const { accepted, otherCount, otherExtensions } = selectFiles(files, notes);
    expect(accepted.map(({ path }) => path)).toEqual(["trip/a.MD", "trip/deep/c.txt"]);
    expect([otherCount, otherExtensions]).toEqual([2, [".png", "no extension"]]);
  });

  it("are offered to every app that reads one of them", () => {
    const table = createApp("table", [".csv", ".txt"], false);
    const any = createApp("any", []);
    const listApps = (...paths: string[]) =>
      findAcceptingApps(pick(...paths), [notes, table, any]).map(({ app }) => app);
    expect(listApps("a.txt", "b.png")).toEqual(["notes", "table"]);
    expect(listApps("folder/a.txt")).toEqual(["notes", "any"]);
    expect(listApps("a.png")).toEqual([]);
  });

  it("leave out hidden files and installed packages of a folder", () => {
    const files = pick("a/b.md", "a/.git/config.md", "a/node_modules/c/d.md").map(({ file, path }) =>
      Object.assign(file, { webkitRelativePath: path }),
    );
    const list = readInput(files as unknown as FileList);
    expect(list.map(({ path }) => path)).toEqual(["a/b.md"]);
  });

  it.each([
    [["people.csv"], "people"],
    [["trip/a.md", "trip/b.md"], "trip"],
    [["nodes.csv", "edges.csv"], "nodes and 1 more"],
    [[".env"], ".env"],
    [[], ""],
  ])("%j are called %j", (paths, title) => {
    expect(suggestTitle(pick(...paths))).toBe(title);
  });
});

describe("the options of an app", () => {
  it("are sent as they are meant: text, numbers, booleans and lists; empty ones are not sent", () => {
    expect(parseSettings({ source: "From ", directed: "false", tables: '["a", "b"]', id: " " })).toEqual({
      ...{ source: "From", directed: false, tables: ["a", "b"] },
    });
  });
});

describe("the list of own data", () => {
  const render = (source: Partial<DataSourceInfo>, canChange = true) =>
    renderToStaticMarkup(
      <Router ssrPath="/">
        <SourceList
          canChange={canChange}
          sources={[{ id: "notes-trip", app: "notes", title: "Trip", addedAt: 0, state: "ready", ...source }]}
        />
      </Router>,
    );

  it("shows the progress, with a name for screen readers", () => {
    const markup = render({ state: "loading", progress: { done: 3, total: 12, item: "oslo.md" } });
    expect(markup).toMatch(/<progress aria-label="Reading Trip"[^>]* max="12" value="3"/);
    expect(markup).toContain("Reading 3 of 12: oslo.md");
    expect(render({ state: "loading" })).toMatch(
      /<progress aria-label="Reading Trip"[^>]* max="1"><\/progress>Reading…/,
    );
  });

  it("shows what was read, and what was skipped and why", () => {
    const skipped = [{ item: "a.pdf", reason: "The file is encrypted." }];
    const markup = render({ report: { counts: { documents: 1200, passages: 3 }, skippedCount: 9, skipped } });
    expect(markup).toContain("1,200 documents, 3 passages");
    expect(markup).toMatch(/<summary[^>]*>9 skipped<\/summary>.*a\.pdf<\/span>: The file is encrypted\./);
    expect(markup).toContain("… and 8 more");
    expect(markup).toMatch(/href="\/\?agent=notes-trip"[^>]*>Open</);
  });

  it("shows why data failed, with a retry; users who may not change data get neither retry nor removal", () => {
    const failed = { state: "failed", error: { code: "data_failed", message: "No\u202e text." } } as const;
    const markup = render(failed);
    expect(markup).toContain("No\\u{202e} text.");
    expect(markup).toContain(">Try again<");
    expect(markup).toContain('aria-label="Remove Trip"');
    expect(render(failed, false)).not.toMatch(/Try again|Remove/);
  });

  it("says what to do about an upload that was left unfinished", () => {
    expect(render({ state: "uploading" })).toContain("Remove it, and add the data again.");
  });
});

describe("links to own files", () => {
  it("open the file at the passage, and name the page of a PDF", () => {
    const render = (address: string) => renderToStaticMarkup(<FileLink address={address} className="" />);
    const pdf = render("/api/data/notes/files/a%20b/policy.pdf#page=12");
    expect(pdf).toContain('href="/api/data/notes/files/a%20b/policy.pdf#page=12"');
    expect(pdf).toContain("Open the document at page 12");
    expect(render("/api/data/notes/files/a.md#:~:text=Ferry")).toContain("Open the document<");
  });

  it("lead nowhere else, whatever a tool writes", () => {
    for (const address of [
      ...[
        "https://evil.example/api/data/a/files/b",
        "//evil.example/api/data/a/files/b",
        "javascript:alert(1)",
      ],
      ...[
        "/api/data/a/files/../../../sessions/x/export",
        "/api/sessions/x",
        "/api/data/a/files/",
        "",
        undefined,
        7,
      ],
    ])
      expect(parseFileAddress(address), String(address)).toBeUndefined();
  });
});
