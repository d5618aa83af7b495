import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, type Store } from "capstan";
import { createClient } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { listen } from "../listen.ts";
import { type OwnData, openOwnData } from "../own-data/own-data.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { type TextLoaderOptions, textLoader } from "../testing/text-loader.ts";

let home: string;
let store: Store;
let closers: (() => Promise<unknown>)[];
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "capstan-data-"));
  store = memory();
  closers = [];
  await write("notes/a.txt", "The plan is ready.");
});
afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  rmSync(home, { recursive: true });
});

async function write(path: string, text: string | Uint8Array): Promise<string> {
  const file = join(home, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, text);
  return file;
}

function start(
  loading: TextLoaderOptions = {},
  options: Partial<ServerOptions> = {},
): TestServer & { data: OwnData } {
  const helper = defineAgent({ name: "texts", model: scriptedModel(() => ({ text: "Hi." })) });
  const data = openOwnData({ store, loaders: { texts: textLoader(loading) }, folder: join(home, "data") });
  const server = createTestServer({ agents: [helper], store, data, dataPaths: true, ...options });
  closers.push(async () => {
    await server.close(0);
    await data.close();
  });
  return { ...server, data };
}

const notes = () => ({ app: "texts", locations: [join(home, "notes")] });

async function addNotes({ send, data }: TestServer & { data: OwnData }): Promise<string> {
  const { id } = await (await send("POST", "/api/data", notes())).json();
  await data.whenLoaded(id);
  return id;
}

async function ask({ send }: TestServer, agent: string): Promise<string> {
  const messages = [{ role: "user", content: "What do the notes say?" }];
  const answer = await send("POST", "/v1/chat/completions", { model: agent, messages });
  return (await answer.json()).choices[0].message.content;
}

describe("an app on own data", () => {
  it("is another agent, which every list shows and which answers from the data", async () => {
    const server = start();
    const added = await server.send("POST", "/api/data", notes());
    expect(added.status).toBe(201);
    expect(await added.json()).toMatchObject({ id: "texts-notes", app: "texts", title: "notes" });
    await server.data.whenLoaded("texts-notes");
    expect(await (await server.send("GET", "/api/data")).json()).toEqual({
      apps: [
        {
          ...{ app: "texts", description: "text files", extensions: [".txt"] },
          ...{ acceptsFolders: true, schemes: ["notes:"], settings: { case: "lower or upper" } },
        },
      ],
      sources: [
        {
          ...{ id: "texts-notes", app: "texts", title: "notes", state: "ready" },
          ...{ addedAt: expect.any(Number), locations: [join(home, "notes")] },
          report: { counts: { texts: 1 }, skippedCount: 0, skipped: [] },
        },
      ],
      ...{ canAdd: true, allowsPaths: true },
    });
    const about = await (await server.send("GET", "/api/about")).json();
    expect(about.agents).toEqual([
      { name: "texts" },
      { name: "texts-notes", title: "notes", description: "Reads 1 texts.", app: "texts" },
    ]);
    const { agents } = await (await server.send("GET", "/api/agents")).json();
    expect(agents[1]).toMatchObject({ name: "texts-notes", source: "data", tools: [{ name: "read_texts" }] });
    expect(await ask(server, "texts-notes")).toBe("The plan is ready.");
    const card = await (await server.send("GET", "/.well-known/agent-card.json")).json();
    expect(JSON.stringify(card)).not.toContain("notes"); // a public card does not name a user's folders
  });

  it("says so while its data is loading, and after it failed", async () => {
    const gate = Promise.withResolvers<void>();
    const server = start({
      async onFile() {
        await gate.promise;
        throw new Error("The disk is gone.");
      },
    });
    await server.send("POST", "/api/data", notes());
    const run = () => server.send("POST", "/api/runs", { agent: "texts-notes", input: "Hi" });
    const early = await run();
    expect([early.status, (await early.json()).error]).toMatchObject([
      409,
      { code: "data_loading", retryable: true, message: expect.stringContaining("is still loading") },
    ]);
    const { agents } = await (await server.send("GET", "/api/agents")).json();
    expect(agents[1]).toMatchObject({
      name: "texts-notes",
      problem: expect.stringContaining("still loading"),
    });
    gate.resolve();
    await server.data.whenLoaded("texts-notes");
    expect((await (await run()).json()).error).toMatchObject({
      code: "data_failed",
      message: expect.stringContaining("Load it again, or remove it."),
    });
    const { sources } = await (await server.send("GET", "/api/data")).json();
    expect(sources[0]).toMatchObject({
      state: "failed",
      error: { code: "data_failed", message: 'Cannot load "notes": The disk is gone.' },
    });
    const again = await server.send("POST", "/api/data/texts-notes/load");
    expect([again.status, (await again.json()).state]).toEqual([202, "loading"]);
  });

  it("resumes a run after a restart as soon as its data is loaded", async () => {
    const reading = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const first = start({
      onRead() {
        reading.resolve();
        return gate.promise;
      },
    });
    const agent = await addNotes(first);
    const { runId } = await (await first.send("POST", "/api/runs", { agent, input: "Hi" })).json();
    await reading.promise;
    const closed = first.close();
    gate.resolve();
    await closed;
    const loading = Promise.withResolvers<void>();
    const second = start({ onFile: () => loading.promise });
    await vi.waitFor(async () => expect((await second.data.get(agent)).state.type).toBe("loading"));
    expect((await store.findRun(runId))?.state).toBe("active");
    loading.resolve();
    await vi.waitFor(async () => {
      const { state, result } = await (await second.send("GET", `/api/runs/${runId}`)).json();
      expect([state, result?.text]).toEqual(["ended", "The plan is ready."]);
    });
  });

  it("takes the approval of a waiting run after a restart once its data is loaded", async () => {
    const first = start({ needsApproval: true });
    const agent = await addNotes(first);
    const { runId } = await (await first.send("POST", "/api/runs", { agent, input: "Hi" })).json();
    await vi.waitFor(async () => expect((await store.findRun(runId))?.state).toBe("waiting"));
    await first.close();
    const loading = Promise.withResolvers<void>();
    const second = start({ needsApproval: true, onFile: () => loading.promise });
    const approve = () => second.send("POST", `/api/runs/${runId}/approvals/c1`, { approved: true });
    expect((await (await approve()).json()).error).toMatchObject({
      message: expect.stringContaining("still loading"),
    });
    expect((await second.send("GET", "/api/admin/runs")).status).toBe(200);
    loading.resolve();
    await second.data.whenLoaded(agent);
    expect((await approve()).status).toBe(202);
    await vi.waitFor(async () => expect((await store.findRun(runId))?.state).toBe("ended"));
  });

  it("is removed, and its sessions stay readable", async () => {
    const server = start();
    const agent = await addNotes(server);
    const { runId, sessionId } = await (
      await server.send("POST", "/api/runs", { agent, input: "Hi" })
    ).json();
    await vi.waitFor(async () => expect((await store.findRun(runId))?.state).toBe("ended"));
    expect((await server.send("DELETE", `/api/data/${agent}`)).status).toBe(204);
    expect((await server.send("POST", "/api/runs", { agent, input: "Hi" })).status).toBe(404);
    const facts = await (await server.send("GET", `/api/sessions/${sessionId}/facts`)).text();
    expect(facts).toContain("The plan is ready.");
    expect((await server.send("DELETE", `/api/data/${agent}`)).status).toBe(404);
  });

  it("keeps its name: no stored agent gets it", async () => {
    const server = start();
    const name = await addNotes(server);
    const data = { format: 1, name };
    const answer = await server.send("PUT", `/api/agents/${name}`, { data, expectedVersion: 0 });
    expect((await answer.json()).error.message).toContain("belongs to own data");
  });

  it("is added by admins only; other users see no paths, no progress and no reasons", async () => {
    const server = start();
    await addNotes(server);
    const { secret } = await server.keys.create({ user: "ada" });
    const headers = { authorization: `Bearer ${secret}` };
    for (const [method, path, body] of [
      ["POST", "/api/data", notes()],
      ["POST", "/api/data/texts-notes/load", undefined],
      ["PUT", "/api/data/texts-notes/files/a.txt", undefined],
      ["DELETE", "/api/data/texts-notes", undefined],
    ] as const)
      expect((await server.send(method, path, body, headers)).status, `${method} ${path}`).toBe(403);
    const seen = await (await server.send("GET", "/api/data", undefined, headers)).text();
    expect(seen).not.toContain(home);
    expect(JSON.parse(seen)).toMatchObject({ canAdd: false, allowsPaths: false });
  });

  it("opens paths of the server only where the operator allows them", async () => {
    const server = start({}, { dataPaths: false });
    const answer = await server.send("POST", "/api/data", notes());
    expect([answer.status, (await answer.json()).error.message]).toEqual([
      403,
      expect.stringContaining("Upload the files, or run `capstan app` on the server."),
    ]);
    const url = { app: "texts", locations: ["notes://desk/today"] };
    expect((await server.send("POST", "/api/data", url)).status).toBe(201);
  });

  it("is not offered by a server without loaders", async () => {
    const server = createTestServer({ agents: [defineAgent({ name: "a", model: scriptedModel([]) })] });
    closers.push(() => server.close(0));
    expect(await (await server.send("GET", "/api/data")).json()).toMatchObject({ apps: [], sources: [] });
    const answer = await server.send("POST", "/api/data", { app: "texts" });
    expect((await answer.json()).error.message).toBe(
      "No app of this server opens own data. Add `data` to its options.",
    );
  });
});

describe("files of own data", () => {
  it("are uploaded with the client over a socket, one request each, and answer questions", async () => {
    const server = start({}, { dataPaths: false });
    const listening = await listen(server, { port: 0 });
    closers.push(() => listening.close(0));
    const client = createClient({ baseURL: listening.url });
    const { id } = await client.data.add({ app: "texts", title: "Trip" });
    await client.data.upload(id, { path: "trip/ä & b.txt", bytes: new Blob(["Oslo."]) });
    await client.data.upload(id, { path: "trip/c.txt", bytes: new TextEncoder().encode("Bergen.") });
    await client.data.load(id);
    await vi.waitFor(async () => expect((await client.data.list()).sources[0]?.state).toBe("ready"));
    expect(await ask(server, id)).toBe("Bergen.\nOslo.");
    const file = await fetch(`${listening.url}/api/data/${id}/files/trip/${encodeURIComponent("ä & b.txt")}`);
    expect(await file.text()).toBe("Oslo.");
    await client.data.remove(id);
    expect((await client.data.list()).sources).toEqual([]);
  });

  it("are served below their folder, by their path with or without the folder's name", async () => {
    await write("notes/deep/b.md", "# Title");
    const server = start();
    const id = await addNotes(server);
    const get = async (path: string) => (await server.send("GET", `/api/data/${id}/files/${path}`)).text();
    for (const path of ["deep/b.md", "notes/deep/b.md", "deep%2Fb.md"])
      expect(await get(path)).toBe("# Title");
  });

  it("outside of the folder are not served: no path and no link leads there", async () => {
    await write("canary.txt", "secret");
    symlinkSync(join(home, "canary.txt"), join(home, "notes", "link.txt"));
    symlinkSync(home, join(home, "notes", "up"));
    const server = start();
    const id = await addNotes(server);
    for (const path of [
      ...["..%2Fcanary.txt", "%2e%2e%2fcanary.txt", "notes%2F..%2F..%2Fcanary.txt", "link.txt"],
      ...["up%2Fcanary.txt", encodeURIComponent(join(home, "canary.txt")), "a.txt%00", "deep", "up"],
    ]) {
      const answer = await server.send("GET", `/api/data/${id}/files/${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.text()).not.toContain("secret");
    }
  });

  it.each([
    ["page.html", "text/plain; charset=utf-8", "inline"],
    ["drawing.svg", "text/plain; charset=utf-8", "inline"],
    ["module.js", "text/plain; charset=utf-8", "inline"],
    ["paper.PDF", "application/pdf", "inline"],
    ["photo.png", "image/png", "inline"],
    ["letter.docx", "application/octet-stream", "attachment"],
  ])("such as %s are sent as %s, so that nothing in them is executed", async (name, type, how) => {
    await write(`notes/${name}`, "<script>alert(1)</script>");
    const server = start();
    const id = await addNotes(server);
    const { headers } = await server.send("GET", `/api/data/${id}/files/${name}`);
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("content-disposition")).toBe(`${how}; filename*=UTF-8''${name}`);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    if (type !== "application/pdf") expect(headers.get("content-security-policy")).toMatch(/^sandbox;/);
  });
});
