import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SourcesProps } from "@capstan/studio";
import { defineAgent, type Json, type Result, run, type Tool } from "capstan";
import { collect, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLibrary, type Library } from "../library/library.ts";
import { fictionalMailbox } from "../mailbox.ts";
import { fallBack } from "./fall-back.ts";
import { getDocument } from "./get-document.ts";
import { searchEmail } from "./search-email.ts";
import { searchKnowledgeBase } from "./search-knowledge-base.ts";
import { searchPeople } from "./search-people.ts";

let root = "";
let library: Library;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "knowledge-"));
  mkdirSync(join(root, "node_modules", "kite"), { recursive: true });
  const sections = Array.from({ length: 12 }, (_, n) => `## Part ${n}\n\n${`Rope ${n}. `.repeat(180)}`);
  writeFileSync(join(root, "README.md"), `# Ropes\n\nAll about ropes.\n\n${sections.join("\n\n")}`);
  writeFileSync(
    join(root, "node_modules", "kite", "README.md"),
    "# Kite\n\nFlies in the wind.\n\n## Use it\n\nLet go.",
  );
  writeFileSync(join(root, "node_modules", "kite", "package.json"), '{"author":"Ada Vane"}');
  library = createLibrary({ root, indexFolder: false });
});
afterAll(async () => {
  (await library.open()).close();
  rmSync(root, { recursive: true });
});

type Input = { readonly [key: string]: Json };

/** Calls a tool in its own run and returns the result. */
async function callTool(tool: Tool, input: Input, context?: unknown) {
  const model = scriptedModel([{ calls: [{ name: tool.name, input }] }, { text: "Done." }]);
  const agent = defineAgent({ name: "tester", model, tools: [tool] });
  const { facts, events } = await collect(run(agent, "Go.", context === undefined ? {} : { context }));
  const [given] = facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact] : []));
  if (!given) throw new Error("The tool gave nothing.");
  return { ...given, progress: events.filter(({ type }) => type === "tool_progress").length };
}

describe("search_knowledge_base", () => {
  it("returns passages to cite, ids for the next tool, and a panel for the user (S3-24, S3-53)", async () => {
    const given = await callTool(searchKnowledgeBase(library), { query: "kite flies", limit: 1 });
    expect(given).toMatchObject({
      status: "ok",
      message: '1 passage for "kite flies".',
      data: { passages: [{ id: "kite#kite", title: "kite README: Kite", place: "kite/README.md" }] },
      contexts: [{ id: "kite#kite", content: "Flies in the wind.", source: { title: "kite README: Kite" } }],
      ui: {
        kind: "sources",
        props: { sources: [{ title: "kite README: Kite", text: "Flies in the wind.", cited: ["Flies"] }] },
      },
      reads: ["private", "untrusted"],
    });
  });

  it("shows the user the beginning of a long passage, and returns the whole passage to the model", async () => {
    const { ui, contexts } = await callTool(searchKnowledgeBase(library), { query: "rope part 3", limit: 1 });
    const [shown] = (ui?.props as SourcesProps).sources;
    expect(shown?.text).toMatch(/^Rope 3\. .{300,} …$/);
    expect(contexts?.[0]?.content.length).toBeGreaterThan(1000);
  });

  it("reports the progress of the index", async () => {
    const fresh = createLibrary({ root, indexFolder: false });
    expect((await callTool(searchKnowledgeBase(fresh), { query: "kite" })).progress).toBe(1);
    expect((await callTool(searchKnowledgeBase(fresh), { query: "kite" })).progress).toBe(0);
    (await fresh.open()).close();
  });

  it("suggests no name for the short words of a sentence", async () => {
    const { message } = await callTool(searchKnowledgeBase(library), { query: "a kyte of clay" });
    expect(message).toBe('No results for "a kyte of clay".');
  });

  it("reports no results, and suggests a similar name", async () => {
    const { message, data } = await callTool(searchKnowledgeBase(library), { query: "kyte" });
    expect(message).toBe('No results for "kyte". Did you mean "kite"?');
    expect(data).toEqual({ passages: [] });
  });
});

describe("get_document", () => {
  it("opens a document or a section, by the id of a document or of a passage", async () => {
    const whole = await callTool(getDocument(library), { id: "kite" });
    expect(whole.contexts?.map(({ id }) => id)).toEqual(["kite#kite", "kite#use-it"]);
    for (const input of [{ id: "kite#use-it" }, { id: "kite", section: "use IT" }]) {
      const { contexts, result } = await callTool(getDocument(library), input);
      expect(contexts?.map(({ id }) => id)).toEqual(["kite#use-it"]);
      expect(String(result)).toContain("Let go.");
    }
  });

  it("truncates a long document and lists its sections", async () => {
    const { contexts, result, message } = await callTool(getDocument(library), { id: "README.md" });
    expect(message).toMatch(/^README\.md: Ropes, the first \d+ of 15 parts\.$/);
    expect(contexts?.map(({ content }) => content.length).reduce((sum, size) => sum + size)).toBeLessThan(
      12_001,
    );
    expect(String(result)).toContain("Truncated. Sections: Ropes; Part 0;");
  });

  it.each([
    [{ id: "kyte" }, 'Document "kyte" not found. Did you mean "kite"?'],
    [{ id: "kite", section: "History" }, 'Section "History" not found in "kite". Sections: Kite; Use it.'],
  ])("refuses %j and lists the existing names", async (input, message) => {
    expect(await callTool(getDocument(library), input)).toMatchObject({
      status: "error",
      error: { message },
      attempts: 1,
    });
  });
});

describe("search_email", () => {
  const mails = searchEmail(fictionalMailbox);

  it("says with every result that the mailbox is fictional", async () => {
    for (const query of ["venue", "submarines"])
      expect((await callTool(mails, { query })).message).toContain("(The mailbox is fictional.)");
  });

  it("returns all mails, newest first, for a general request", async () => {
    for (const query of ["emails", "my latest email"])
      expect((await callTool(mails, { query, limit: 1 })).data).toMatchObject({ mails: [{ id: "mail-8" }] });
  });

  it("finds mails with most words of a question, and none with few of them", async () => {
    const find = async (query: string) => (await callTool(mails, { query })).data;
    expect(await find("which train did Priya pick")).toMatchObject({ mails: [{ id: "mail-5" }] });
    expect(await find("which plane did Priya miss")).toEqual({ mails: [] });
  });

  it("finds mails by day, and explains a day that it cannot read", async () => {
    const find = async (days: { readonly [name: string]: string }) =>
      (await callTool(mails, { query: "emails", limit: 20, ...days })).data;
    const june = { mails: [{ id: "mail-8" }, { id: "mail-7" }] };
    expect(await find({ since: "the 10th of June" })).toMatchObject(june);
    expect(await find({ since: "2026-06-10" })).toMatchObject(june);
    expect(await find({ since: "June 10, 2026" })).toMatchObject(june);
    expect(await find({ until: "12 May" })).toMatchObject({ mails: [{ id: "mail-1" }] });
    // July has not come yet when the newest mail arrives, so this is July of the year before.
    expect(await find({ since: "1 July" })).toMatchObject({ mails: { length: 8 } });
    expect(await callTool(mails, { query: "emails", since: "soon" })).toMatchObject({
      error: { message: expect.stringMatching(/^"soon" is not a day\. Such as /) },
    });
  });

  it("ignores words that only refer to mails", async () => {
    expect(
      (await callTool(mails, { query: "summary of any recent email: travel catering" })).data,
    ).toMatchObject({
      mails: [{ id: "mail-4" }],
    });
  });

  it("finds by words and by sender, newest first, and explains how to get the next page", async () => {
    expect((await callTool(mails, { query: "mails from Ines Duarte", limit: 2 })).data).toEqual({
      mails: [
        { id: "mail-8", subject: "Workshop budget approved", from: "Ines Duarte", date: "2026-06-18" },
        { id: "mail-6", subject: "Workshop budget too high", from: "Ines Duarte", date: "2026-06-04" },
      ],
      next: { query: "mails from Ines Duarte", limit: 2, page: 2 },
    });
  });

  it.each([
    ["a program that gives no context", undefined, "ok"],
    ["the local user of a server", { user: "", sessionId: "s" }, "ok"],
    ["another user", { user: "mallory", sessionId: "s" }, "error"],
    ["a context without a user", { role: "admin" }, "error"],
    ["a context that is not an object", "you", "error"],
  ])("%s, with the context %j, gets the status %s (S3-59)", async (_, context, status) => {
    const given = await callTool(mails, { query: "budget" }, context);
    expect(given.status).toBe(status);
    if (status === "ok") return;
    expect(given.error).toMatchObject({ code: "permission_denied" });
    expect(JSON.stringify(given)).not.toContain("euros");
  });

  it("is available to the owner of the mailbox (S3-59)", async () => {
    const hers = searchEmail({ ...fictionalMailbox, owner: "ines" });
    const asked = async (user: string) => (await callTool(hers, { query: "budget" }, { user })).status;
    expect([await asked("ines"), await asked("")]).toEqual(["ok", "error"]);
  });
});

describe("search_people", () => {
  it("returns contacts and their roles, as citable sources", async () => {
    expect(await callTool(searchPeople(library), { query: "Who wrote kite?" })).toMatchObject({
      message: 'One person for "Who wrote kite?".',
      data: { people: [{ name: "Ada Vane", packages: [{ name: "kite", role: "author" }] }] },
      contexts: [{ id: "person:Ada Vane", content: "Ada Vane is author of kite." }],
    });
    expect((await callTool(searchPeople(library), { query: "zorgulator" })).message).toMatch(
      /^No people found/,
    );
  });
});

describe("fall_back", () => {
  const createAttempt = (preview: string, status = "ok") => ({
    tool: "search_knowledge_base",
    status,
    preview,
  });
  const answer = async (query: string, list: ReturnType<typeof createAttempt>[]): Promise<Result["text"]> =>
    String((await callTool(fallBack(library), { reason: "Too many turns.", query, tried: list })).result);

  it("reports the searches, the closest matches, and the gaps (S3-41, S3-61)", async () => {
    const first = JSON.stringify({ message: '2 passages for "kite".', data: { passages: ["…"] } });
    expect(
      await answer("Does a kite zorgulate?", [
        createAttempt(first.slice(0, 60)),
        createAttempt("Broken.", "error"),
      ]),
    ).toBe(
      [
        "I could not complete the search: Too many turns.",
        'Searched: \n- search_knowledge_base: 2 passages for "kite".\n- search_knowledge_base (error): Broken.',
        "Closest matches: kite README: Kite (kite/README.md); kite README: Use it (kite/README.md).",
        'Missing: no document contains "zorgulate".',
      ].join("\n\n"),
    );
  });

  it("reports when every word is known but no passage answers (S3-61)", async () => {
    expect(await answer("wind ropes", [])).toContain(
      "Missing: no single passage answers the whole question.",
    );
    expect(
      await answer(
        "zorgulator",
        Array.from({ length: 12 }, () => createAttempt("x")),
      ),
    ).toMatch(/- and 2 more\n\nA wider search for any of the words found nothing either\./);
  });
});
