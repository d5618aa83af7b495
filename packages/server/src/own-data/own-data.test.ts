import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memory } from "capstan/stores/memory";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { textLoader } from "../testing/text-loader.ts";
import type { DataLoader } from "./loader.ts";
import { type OwnData, type OwnDataOptions, openOwnData } from "./own-data.ts";

let home: string;
let store: ReturnType<typeof memory>;
const opened: OwnData[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "capstan-own-data-"));
  store = memory();
});
afterEach(async () => {
  for (const data of opened.splice(0)) await data.close();
  rmSync(home, { recursive: true });
});

function open(options: Partial<OwnDataOptions> = {}): OwnData {
  const data = openOwnData({
    store,
    loaders: { texts: textLoader() },
    folder: join(home, "data"),
    ...options,
  });
  opened.push(data);
  return data;
}

async function write(path: string, text = "Hello."): Promise<string> {
  const file = join(home, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, text);
  return file;
}

const toStream = (text: string) => new Blob([text]).stream();

describe("own data", () => {
  it("is loaded with progress, and reports what was read and what was skipped", async () => {
    await write("notes/a.txt");
    await write("notes/b.bin");
    const data = open();
    const seen: unknown[] = [];
    data.onChange(({ state }) => seen.push(state.type === "loading" ? state.progress : state.type));
    const { name } = await data.add({ app: "texts", locations: [join(home, "notes")] });
    const { title, state } = await data.whenLoaded(name);
    expect([name, title]).toEqual(["texts-notes", "notes"]);
    expect(seen).toEqual([
      undefined,
      { done: 0, total: 2, item: "a.txt" },
      { done: 1, total: 2, item: "b.bin" },
      "ready",
    ]);
    expect(state.type === "ready" && state.loaded.report()).toEqual({
      counts: { texts: 1 },
      skipped: [{ item: "b.bin", reason: ".bin files are not read." }],
    });
  });

  it("gets a name that no other agent has: of the code, stored, or on own data", async () => {
    const file = await write("Notes & Pläne.txt");
    await store.putRecord({ kind: "agent", id: "texts-notes-plane-2", body: {} }, 0);
    const data = open({ reservedNames: ["texts-notes-plane"] });
    const add = async (settings = {}) => (await data.add({ app: "texts", locations: [file], settings })).name;
    expect([await add(), await add({ case: "lower" })]).toEqual([
      "texts-notes-plane-3",
      "texts-notes-plane-4",
    ]);
    expect((await data.add({ app: "texts", locations: [file], title: "計画" })).name).toBe("texts-data");
  });

  it("is remembered: another process loads it at its start, and what is added later", async () => {
    const file = await write("plan.txt");
    const { name } = await open().add({ app: "texts", locations: [file] });
    const other = open();
    expect(await other.get(name)).toMatchObject({ title: "plan", state: { type: "waiting" } });
    other.start();
    await vi.waitFor(async () => expect((await other.get(name)).state.type).toBe("ready"));
    const late = await open().add({ app: "texts", locations: [file], title: "Later" });
    await other.list();
    expect((await other.whenLoaded(late.name)).state.type).toBe("ready");
  });

  it("that is added again is the same source, also in another process", async () => {
    const file = await write("plan.txt");
    const add = async (data: OwnData, title?: string) =>
      (await data.add({ app: "texts", locations: [file], title })).name;
    const data = open();
    expect([await add(data), await add(data), await add(open())]).toEqual(Array(3).fill("texts-plan"));
    expect(await add(data, "Other")).toBe("texts-other");
    expect(await data.list()).toHaveLength(2);
  });

  it("of another project in the same store is not opened, and its names are not used again", async () => {
    const file = await write("plan.txt");
    await open({ project: "/one" }).add({ app: "texts", locations: [file] });
    const other = open({ project: "/two" });
    expect(await other.list()).toEqual([]);
    expect((await other.add({ app: "texts", locations: [file] })).name).toBe("texts-plan-2");
  });

  it("stays listed with the reason when it cannot be loaded, and loads when that is fixed", async () => {
    const file = await write("notes/a.bin");
    const data = open();
    const { name } = await data.add({ app: "texts", locations: [join(home, "notes")] });
    expect(await data.whenLoaded(name)).toMatchObject({
      state: { type: "failed", error: { code: "invalid_input", message: "No text file in notes." } },
    });
    await write("notes/b.txt");
    rmSync(file);
    expect((await data.load(name)).state.type).toBe("loading");
    expect((await data.whenLoaded(name)).state.type).toBe("ready");
  });

  it("whose app opens no own data any more is listed as failed, so that it can be removed", async () => {
    const file = await write("plan.txt");
    const { name } = await open().add({ app: "texts", locations: [file] });
    const data = open({ loaders: {} });
    expect(await data.whenLoaded(name)).toMatchObject({
      state: {
        type: "failed",
        error: { message: expect.stringContaining("Add it to `data` in the config") },
      },
    });
    await data.remove(name);
    expect(await data.list()).toEqual([]);
  });

  it("is refused when a location does not exist or is not read, with what to do", async () => {
    const file = await write("picture.png");
    const data = open();
    const add = (app: string, ...locations: string[]) => data.add({ app, locations });
    await expect(add("text", file)).rejects.toThrow(
      'The app "text" does not open own data. Did you mean "texts"?',
    );
    await expect(add("texts", join(home, "none"))).rejects.toThrow("not found. Check the path.");
    await expect(add("texts", "notes")).rejects.toThrow("the path is not absolute");
    await expect(add("texts", file)).rejects.toThrow("it does not read .png files. texts reads text files.");
    await expect(add("texts", "bolt://me:hunter2@host")).rejects.toThrow(
      "Cannot open bolt://me:…@host: it does not connect to bolt:// addresses.",
    );
    await expect(data.add({ app: "texts", settings: { cases: "lower" } })).rejects.toThrow(
      'Unknown setting "cases". Did you mean "case"?',
    );
    expect(await data.list()).toEqual([]);
  });

  it("is closed and forgotten when it is removed; files that were read in place stay", async () => {
    const file = await write("plan.txt");
    const closed: string[] = [];
    const data = open({ loaders: { texts: textLoader({ onClose: (name) => closed.push(name) }) } });
    const { name } = await data.add({ app: "texts", locations: [file] });
    await data.whenLoaded(name);
    expect(existsSync(join(home, "data", name))).toBe(true);
    await data.remove(name);
    expect(closed).toEqual([name]);
    expect([existsSync(join(home, "data", name)), existsSync(file)]).toEqual([false, true]);
    await expect(data.get(name)).rejects.toMatchObject({ code: "not_found" });
    expect(await open().list()).toEqual([]);
  });

  it("that is removed while it loads is aborted", async () => {
    const file = await write("plan.txt");
    const started = Promise.withResolvers<AbortSignal>();
    const loader = textLoader({
      async onFile(_, { signal }) {
        started.resolve(signal);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    const data = open({ loaders: { texts: loader } });
    const { name } = await data.add({ app: "texts", locations: [file] });
    await data.load(name);
    const signal = await started.promise;
    await data.remove(name);
    expect(signal.aborted).toBe(true);
    expect(await data.list()).toEqual([]);
  });

  it("that another process removes is closed at the next list", async () => {
    const file = await write("plan.txt");
    const closed: string[] = [];
    const data = open({ loaders: { texts: textLoader({ onClose: (name) => closed.push(name) }) } });
    const { name } = await data.add({ app: "texts", locations: [file] });
    await data.whenLoaded(name);
    await open().remove(name);
    expect(await data.list()).toEqual([]);
    await vi.waitFor(() => expect(closed).toEqual([name]));
  });

  it("loads two sources at a time", async () => {
    const file = await write("plan.txt");
    const gate = Promise.withResolvers<void>();
    let active = 0;
    let most = 0;
    const onFile = async () => {
      most = Math.max(most, ++active);
      await gate.promise;
      active -= 1;
    };
    const data = open({ loaders: { texts: textLoader({ onFile }) } });
    const names: string[] = [];
    for (let count = 0; count < 4; count++)
      names.push((await data.add({ app: "texts", locations: [file], title: `Plan ${count}` })).name);
    for (const name of names) await data.load(name);
    await vi.waitFor(() => expect(active).toBe(2));
    gate.resolve();
    for (const name of names) expect((await data.whenLoaded(name)).state.type).toBe("ready");
    expect(most).toBe(2);
  });

  it("fails by name when a loader gives its agent another name", async () => {
    const file = await write("plan.txt");
    const texts = textLoader();
    const renamed: DataLoader = { ...texts, load: (request) => texts.load({ ...request, name: "other" }) };
    const data = open({ loaders: { texts: renamed } });
    const { name } = await data.add({ app: "texts", locations: [file] });
    expect(await data.whenLoaded(name)).toMatchObject({
      state: { error: { message: expect.stringContaining('must name its first agent "texts-plan"') } },
    });
  });
});

describe("an upload", () => {
  it("is loaded once all files are there, also by a later process, and deleted with its source", async () => {
    const data = open();
    const { name, state } = await data.add({ app: "texts", title: "My notes" });
    expect([name, state.type]).toEqual(["texts-my-notes", "uploading"]);
    await expect(data.load(name)).rejects.toThrow('"My notes" has no files yet.');
    expect(await data.upload(name, "notes/2024/a.txt", toStream("One."))).toBe(4);
    await data.upload(name, "notes/b.txt", toStream("Two."));
    await data.upload(name, "notes/b.txt", toStream("Three."));
    expect(await data.whenLoaded(name)).toMatchObject({ state: { type: "ready" } });
    expect(await data.listRoots(name)).toEqual([join(home, "data", name, "files", "notes")]);
    await expect(data.upload(name, "c.txt", toStream(""))).rejects.toThrow("takes no more files");
    const later = await open().whenLoaded(name);
    expect(later.state.type === "ready" && later.state.loaded.report().counts).toEqual({ texts: 2 });
    await data.remove(name);
    expect(existsSync(join(home, "data", name))).toBe(false);
  });

  it.each([
    ...["../../canary.txt", "/canary.txt", "a/../../../canary.txt", "a\\..\\canary.txt", "C:\\canary.txt"],
    ...["", ".", "a//b.txt", "a/./b.txt", "nul\u0000.txt", "line\n.txt", "x".repeat(201), "a/".repeat(33)],
  ])("refuses the path %j and writes nothing", async (path) => {
    await write("canary.txt", "untouched");
    const data = open();
    const { name } = await data.add({ app: "texts" });
    await expect(data.upload(name, path, toStream("changed"))).rejects.toMatchObject({
      code: "invalid_input",
    });
    expect(await data.listRoots(name)).toEqual([]);
  });

  it("stops at the limit of bytes of all files, without keeping the file that exceeds it", async () => {
    const data = open({ uploadLimits: { maxBytes: 10, maxFiles: 3 } });
    const { name } = await data.add({ app: "texts" });
    await data.upload(name, "a.txt", toStream("12345"));
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(4));
      },
    });
    await expect(data.upload(name, "b.txt", endless)).rejects.toMatchObject({
      code: "body_too_large",
      message: expect.stringContaining('exceed 10 bytes with "b.txt"'),
    });
    expect(pulled).toBeLessThan(100);
    await data.upload(name, "c.txt", toStream("123"));
    await data.upload(name, "d.txt", toStream(""));
    await expect(data.upload(name, "e.txt", toStream(""))).rejects.toThrow("More than 3 files");
    const names = (await data.listRoots(name)).map((path) => path.slice(-5));
    expect(names).toEqual(["a.txt", "c.txt", "d.txt"]);
  });
});
