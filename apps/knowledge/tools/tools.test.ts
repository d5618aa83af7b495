import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SourcesProps } from "@capstan/studio";
import { defineAgent, type Json, type Result, run, type Tool } from "capstan";
import { collect, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Library, library } from "../library/library.ts";
import { fictionalMailbox } from "../mailbox.ts";
import { fallBack } from "./fall-back.ts";
import { getDocument } from "./get-document.ts";
import { searchEmail } from "./search-email.ts";
import { searchKnowledgeBase } from "./search-knowledge-base.ts";
import { searchPeople } from "./search-people.ts";

let root = "";
let shelf: Library;

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
  shelf = library({ root, keptIn: false });
});
afterAll(async () => {
  (await shelf.open()).close();
  rmSync(root, { recursive: true });
});

type Input = { readonly [key: string]: Json };

/** What one call of a tool gives, in a run of its own. */
async function call(tool: Tool, input: Input, context?: unknown) {
  const model = scriptedModel([{ calls: [{ name: tool.name, input }] }, { text: "Done." }]);
  const agent = defineAgent({ name: "tester", model, tools: [tool] });
  const { facts, events } = await collect(run(agent, "Go.", context === undefined ? {} : { context }));
  const [given] = facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact] : []));
  if (!given) throw new Error("The tool gave nothing.");
  return { ...given, progress: events.filter(({ type }) => type === "tool_progress").length };
}

describe("search_knowledge_base", () => {
  it("gives passages to cite, ids for the next tool, and a panel for people (S3-24, S3-53)", async () => {
    const given = await call(searchKnowledgeBase(shelf), { query: "kite flies", limit: 1 });
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

  it("shows people the beginning of a long passage, and gives the model all of it", async () => {
    const { ui, contexts } = await call(searchKnowledgeBase(shelf), { query: "rope part 3", limit: 1 });
    const [shown] = (ui?.props as SourcesProps).sources;
    expect(shown?.text).toMatch(/^Rope 3\. .{300,} …$/);
    expect(contexts?.[0]?.content.length).toBeGreaterThan(1000);
  });

  it("tells how far the index is while it is made", async () => {
    const fresh = library({ root, keptIn: false });
    expect((await call(searchKnowledgeBase(fresh), { query: "kite" })).progress).toBe(1);
    expect((await call(searchKnowledgeBase(fresh), { query: "kite" })).progress).toBe(0);
    (await fresh.open()).close();
  });

  it("guesses no name from the short words of a sentence", async () => {
    const { message } = await call(searchKnowledgeBase(shelf), { query: "a kyte of clay" });
    expect(message).toBe('Nothing was found for "a kyte of clay".');
  });

  it("says so when there is nothing, and which name is near", async () => {
    const { message, data } = await call(searchKnowledgeBase(shelf), { query: "kyte" });
    expect(message).toBe('Nothing was found for "kyte". Did you mean "kite"?');
    expect(data).toEqual({ passages: [] });
  });
});

describe("get_document", () => {
  it("opens a document or a section, by the id of a document or of a passage", async () => {
    const whole = await call(getDocument(shelf), { id: "kite" });
    expect(whole.contexts?.map(({ id }) => id)).toEqual(["kite#kite", "kite#use-it"]);
    for (const input of [{ id: "kite#use-it" }, { id: "kite", section: "use IT" }]) {
      const { contexts, result } = await call(getDocument(shelf), input);
      expect(contexts?.map(({ id }) => id)).toEqual(["kite#use-it"]);
      expect(String(result)).toContain("Let go.");
    }
  });

  it("gives as much of a long one as fits, and says what else there is", async () => {
    const { contexts, result, message } = await call(getDocument(shelf), { id: "README.md" });
    expect(message).toMatch(/^README\.md: Ropes, the first \d+ of 15 parts\.$/);
    expect(contexts?.map(({ content }) => content.length).reduce((sum, size) => sum + size)).toBeLessThan(
      12_001,
    );
    expect(String(result)).toContain("There is more. Sections: Ropes; Part 0;");
  });

  it.each([
    [{ id: "kyte" }, 'There is no document "kyte". Did you mean "kite"?'],
    [{ id: "kite", section: "History" }, '"kite" has no section "History". It has: Kite; Use it.'],
  ])("refuses %j with the names that there are", async (input, message) => {
    expect(await call(getDocument(shelf), input)).toMatchObject({
      status: "error",
      error: { message },
      attempts: 1,
    });
  });
});

describe("search_email", () => {
  const mails = searchEmail(fictionalMailbox);

  it("says with every answer that the mailbox is made up", async () => {
    for (const query of ["venue", "submarines"])
      expect((await call(mails, { query })).message).toContain("(The mailbox is fictional.)");
  });

  it("finds all, newest first, when nothing but mails is asked for", async () => {
    for (const query of ["emails", "my latest email"])
      expect((await call(mails, { query, limit: 1 })).data).toMatchObject({ mails: [{ id: "mail-8" }] });
  });

  it("passes over words that only say that mails are meant", async () => {
    const { data } = await call(mails, { query: "Summarize what anyone wrote about the travel budget" });
    expect(data).toEqual({ mails: [] });
    expect((await call(mails, { query: "summary of any recent email: travel budget" })).data).toMatchObject({
      mails: [{ id: "mail-4" }],
    });
  });

  it("finds by words of the mail and by sender, newest first, and says how to get the rest", async () => {
    expect((await call(mails, { query: "mails from Ines Duarte", limit: 2 })).data).toEqual({
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
    ["a context that names nobody", { role: "admin" }, "error"],
    ["a context that is no object", "you", "error"],
  ])("%s, with the context %j, gets the status %s (S3-59)", async (_, context, status) => {
    const given = await call(mails, { query: "budget" }, context);
    expect(given.status).toBe(status);
    if (status === "ok") return;
    expect(given.error).toMatchObject({ code: "permission_denied" });
    expect(JSON.stringify(given)).not.toContain("euros");
  });

  it("is for whoever owns the mailbox (S3-59)", async () => {
    const hers = searchEmail({ ...fictionalMailbox, owner: "ines" });
    const asked = async (user: string) => (await call(hers, { query: "budget" }, { user })).status;
    expect([await asked("ines"), await asked("")]).toEqual(["ok", "error"]);
  });
});

describe("search_people", () => {
  it("says who does what, to be cited", async () => {
    expect(await call(searchPeople(shelf), { query: "Who wrote kite?" })).toMatchObject({
      message: 'One person for "Who wrote kite?".',
      data: { people: [{ name: "Ada Vane", packages: [{ name: "kite", role: "author" }] }] },
      contexts: [{ id: "person:Ada Vane", content: "Ada Vane is author of kite." }],
    });
    expect((await call(searchPeople(shelf), { query: "zorgulator" })).message).toMatch(/^Nobody was found/);
  });
});

describe("fall_back", () => {
  const tried = (preview: string, status = "ok") => ({ tool: "search_knowledge_base", status, preview });
  const answer = async (query: string, list: ReturnType<typeof tried>[]): Promise<Result["text"]> =>
    String((await call(fallBack(shelf), { reason: "Too many turns.", query, tried: list })).result);

  it("tells what was searched, what is nearest, and what is missing (S3-41, S3-61)", async () => {
    const first = JSON.stringify({ message: '2 passages for "kite".', data: { passages: ["…"] } });
    expect(
      await answer("Does a kite zorgulate?", [tried(first.slice(0, 60)), tried("Broken.", "error")]),
    ).toBe(
      [
        "I could not finish the search: Too many turns.",
        'Searched: \n- search_knowledge_base: 2 passages for "kite".\n- search_knowledge_base (error): Broken.',
        "Nearest to the question: kite README: Kite (kite/README.md); kite README: Use it (kite/README.md).",
        'Missing: no document has "zorgulate".',
      ].join("\n\n"),
    );
  });

  it("is honest when every word is known and no answer is (S3-61)", async () => {
    expect(await answer("wind ropes", [])).toContain("Missing: one passage that answers the whole question.");
    expect(
      await answer(
        "zorgulator",
        Array.from({ length: 12 }, () => tried("x")),
      ),
    ).toMatch(/- and 2 more\n\nA wider search, with any of the words, found nothing either\./);
  });
});
