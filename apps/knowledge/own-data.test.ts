import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mcpTools } from "@capstan/mcp";
import type { LoadProgress, LoadRequest } from "@capstan/server";
import { defineAgent, run } from "capstan";
import { offline } from "capstan/models/offline";
import { collect, scriptedModel } from "capstan/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type DocumentLoaderOptions, documentLoader } from "./own-data.ts";

const fixtures = join(import.meta.dirname, "fixtures");

/** Creates a temporary folder with these files. */
function createFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "knowledge-own-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

type LoadOptions = DocumentLoaderOptions & Partial<LoadRequest>;

async function load({ model = offline(), mcp, embeddings, ...request }: LoadOptions) {
  const steps: LoadProgress[] = [];
  const loader = documentLoader({ model, embeddings, ...(mcp && { mcp }) });
  const loaded = await loader.load({
    name: "knowledge-trips",
    title: "Trips",
    locations: [],
    settings: {},
    folder: createFolder(),
    signal: new AbortController().signal,
    onProgress: (step) => steps.push(step),
    ...request,
  });
  onTestFinished(() => loaded.close?.());
  return { ...loaded, steps };
}

/** Calls the search tool of the agent. */
async function search({ agents }: Awaited<ReturnType<typeof load>>, query: string) {
  const tool = agents[0]?.tools.get("search_knowledge_base");
  if (!tool) throw new Error("The agent has no search.");
  const model = scriptedModel([{ calls: [{ name: tool.name, input: { query } }] }, { text: "Done." }]);
  const tester = defineAgent({ name: "tester", model, tools: [tool] });
  const { facts } = await collect(run(tester, "Go."));
  const [result] = facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact] : []));
  return { message: result?.message, reads: result?.reads, contexts: result?.contexts ?? [] };
}

const notes = {
  "oslo.md":
    "# Oslo\n\n## Hotels\n\nA hotel in Oslo: up to 1,900 kroner a night.\n\n## Ferry\n\nThe ferry costs 20 euros.",
  "bergen.txt": "Bergen is rainy. Bring an umbrella.",
  "people.csv": "name,team\nAda,Survey\nBo,Office\n",
  ".git/config": "[core]",
  "node_modules/x/README.md": "# x",
  "photo.png": "pixels",
};

describe("own documents", () => {
  it("are read with progress, counted, and what is skipped is named with the reason", async () => {
    const folder = createFolder(notes);
    cpSync(join(fixtures, "travel-policy.pdf"), join(folder, "policy.pdf"));
    writeFileSync(join(folder, "broken.docx"), "no archive");
    const loaded = await load({ locations: [folder] });
    expect(loaded.report().counts).toEqual({ documents: 4, passages: 8 });
    const reasons = loaded.report().skipped.map(({ item, reason }) => `${item}: ${reason}`);
    expect(reasons).toEqual([
      expect.stringMatching(/^broken\.docx: .*is not a readable ZIP archive/),
      ".git: Hidden files and folders are not read.",
      "node_modules: Folders of installed packages are not read.",
      "photo.png: Files of type .png are not read.",
    ]);
    expect(loaded.steps.map(({ done, total, item }) => `${done}/${total} ${item}`)).toEqual([
      "0/5 bergen.txt",
      "1/5 broken.docx",
      "2/5 oslo.md",
      "3/5 people.csv",
      "4/5 policy.pdf",
    ]);
    expect(loaded.agents.map(({ name }) => name)).toEqual(["knowledge-trips", "knowledge-trips-research"]);
    expect(loaded.profile).toMatchObject({
      title: "Trips",
      suggestions: ["What do the documents say about Hotels?"],
    });
  });

  it("are found by a question as by its words, by stems and by prefixes", async () => {
    const loaded = await load({ locations: [createFolder(notes)] });
    const find = async (query: string) => (await search(loaded, query)).contexts.map(({ id }) => id);
    expect(await find("hotel Oslo")).toEqual(["oslo.md#hotels"]);
    for (const query of [
      "How much may a hotel cost in Oslo?",
      "much may a hotel cost in Oslo",
      "What is the most I can spend on hotels when I am in Oslo for one night?",
      "hotels in Oslo",
      "hote osl",
    ])
      expect((await find(query))[0], query).toBe("oslo.md#hotels");
    expect(await find("Which team is Ada in?")).toEqual(["people.csv#row-1"]);
    expect(await find("umbrellas")).toEqual(["bergen.txt#top"]);
  });

  it("that do not answer the question are not returned", async () => {
    const loaded = await load({ locations: [createFolder(notes)] });
    for (const query of ["Who won the world cup in 1998?", "How much does a train to Trondheim cost?"]) {
      const { message, contexts } = await search(loaded, query);
      expect([message, contexts]).toEqual([`No results for "${query}".`, []]);
    }
  });

  it("are cited with a link that opens the file at the passage, in a PDF at the page", async () => {
    const folder = createFolder({ "Trip ideas/oslo #1.md": notes["oslo.md"] });
    cpSync(join(fixtures, "travel-policy.pdf"), join(folder, "policy.pdf"));
    const loaded = await load({ locations: [folder] });
    const { contexts, reads } = await search(loaded, "limit for a hotel in Bergen");
    expect(contexts.map(({ source }) => source)).toEqual([
      {
        title: "Travel policy (policy.pdf): Page 2",
        place: "policy.pdf",
        file: "/api/data/knowledge-trips/files/policy.pdf#page=2",
      },
    ]);
    expect(reads).toEqual(["private", "untrusted"]);
    const [ferry] = (await search(loaded, "ferry costs")).contexts;
    expect(ferry?.source.file).toBe(
      "/api/data/knowledge-trips/files/Trip%20ideas/oslo%20%231.md#:~:text=The%20ferry%20costs%2020%20euros.&text=Ferry",
    );
  });

  it("from several places are told apart by the name of the place", async () => {
    const [first, second] = [createFolder({ "a.md": "apples" }), createFolder({ "a.md": "apples" })];
    const file = join(createFolder({ "b.md": "apples" }), "b.md");
    const loaded = await load({ locations: [first, second, file] });
    expect(loaded.report().counts.documents).toBe(3);
    const places = (await search(loaded, "apples")).contexts.map(({ source }) => source.place);
    expect(places.toSorted()).toEqual(
      ["b.md", `${first.split("/").at(-1)}/a.md`, `${second.split("/").at(-1)}/a.md`].toSorted(),
    );
  });

  it("of which none can be read are refused with the reasons, and aborting ends the reading", async () => {
    const locations = [createFolder({ "a.png": "", "b.md": " " })];
    await expect(load({ locations })).rejects.toMatchObject({
      code: "invalid_input",
      message:
        "There is no document to search. b.md: It contains no text. a.png: Files of type .png are not read.",
    });
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(
      load({ locations: [createFolder(notes)], signal: controller.signal, onProgress }),
    ).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("own documents that change", () => {
  it("are read again after a restart only if they have changed, also those that cannot be read", async () => {
    const folder = createFolder();
    const documents = createFolder({ ...notes, "broken.pdf": "no PDF" });
    await (await load({ locations: [documents], folder })).close?.();
    appendFileSync(join(documents, "bergen.txt"), "\n\nThe funicular is closed.");
    rmSync(join(documents, "people.csv"));
    const again = await load({ locations: [documents], folder });
    expect(again.steps.map(({ item }) => item)).toEqual(["bergen.txt"]);
    expect(again.report().counts.documents).toBe(2);
    expect(again.report().skipped).toContainEqual({ item: "broken.pdf", reason: "Invalid PDF structure." });
    expect((await search(again, "funicular")).contexts).toHaveLength(1);
    expect((await search(again, "Ada team")).contexts).toEqual([]);
  });

  it("while the others are still being read are read again", async () => {
    const folder = createFolder({ "a.md": "# A\n\nold words", "b.md": "# B\n\nother words" });
    let hasChanged = false;
    const onProgress = ({ item }: LoadProgress) => {
      if (item !== "b.md" || hasChanged) return;
      hasChanged = true;
      writeFileSync(join(folder, "a.md"), "# A\n\nnew sentences");
    };
    const loaded = await load({ locations: [folder], onProgress });
    expect((await search(loaded, "new sentences")).contexts.map(({ id }) => id)).toEqual(["a.md#a@2"]);
  });

  it("are noticed: changed, added and removed files", async () => {
    const folder = createFolder(notes);
    const loaded = await load({ locations: [folder] });
    const find = async (query: string) => (await search(loaded, query)).contexts.map(({ id }) => id);
    writeFileSync(
      join(folder, "oslo.md"),
      "# Oslo\n\n## Hotels\n\nA hotel in Oslo: up to 2,100 kroner a night.",
    );
    mkdirSync(join(folder, "more"));
    writeFileSync(join(folder, "more", "tromso.md"), "# Tromsø\n\nNorthern lights.");
    rmSync(join(folder, "bergen.txt"));
    await vi.waitFor(async () => expect(loaded.report().counts).toEqual({ documents: 3, passages: 4 }), {
      timeout: 60_000,
      interval: 100,
    });
    // Another id, because a session keeps the first text of an id.
    expect(await find("hotel Oslo")).toEqual(["oslo.md#hotels@2"]);
    expect(await find("northern lights")).toEqual(["more/tromso.md#tromsø"]);
    expect(await find("umbrella")).toEqual([]);
  });
});

describe("resources of MCP servers", () => {
  it("are documents next to files, and one that cannot be read is reported", async () => {
    const server = join(import.meta.dirname, "..", "mcp-bridge", "servers", "units.ts");
    const mcp = await mcpTools({ mcpServers: { units: { command: process.execPath, args: [server] } } });
    onTestFinished(() => mcp.close());
    const gone = { uri: "units:///gone", name: "gone" };
    const withGone = { ...mcp, resources: async (name: string) => [...(await mcp.resources(name)), gone] };
    const loaded = await load({ locations: [createFolder(notes), "mcp://units"], mcp: withGone });
    expect(documentLoader({ mcp }).schemes).toEqual(["mcp:"]);
    expect(loaded.report().counts.documents).toBe(4);
    expect(loaded.report().skipped).toContainEqual({
      item: "mcp://units/units:///gone",
      reason: expect.stringContaining("units:///gone"),
    });
    const { contexts, reads } = await search(loaded, "units of mass and volume");
    expect(contexts).toMatchObject([{ source: { title: "units", place: "units:///all" } }]);
    expect(contexts[0]?.source).not.toHaveProperty("file");
    expect(reads).toEqual(["private", "untrusted"]);
  });
});
