import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { MediaPart } from "../../kernel/history.ts";
import { run } from "../../runtime/run.ts";
import { session } from "../../sessions/session.ts";
import { sessions } from "../../sessions/sessions.ts";
import { memory } from "../../stores/memory.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const pixel = "iVBORw0KGgoAAAANSUhEUg==";
const opaque = { wire: "acme", data: { id: "img_1" } };

describe("generated media", () => {
  it("are stored as a blob, and the facts and the result have the handle", async () => {
    const store = memory();
    const model = scriptedModel([{ text: "Here.", media: [{ mediaType: "image/png", data: pixel }] }]);
    const agent = defineAgent({ name: "a", model });
    const result = await run(agent, "Draw", { store, session: "s" });
    const media = { type: "media", mediaType: "image/png", handle: "blob_1", size: 16 };
    expect([result.text, result.media, result.history.at(-1)]).toEqual([
      "Here.",
      [media],
      { type: "assistant", parts: [{ type: "text", text: "Here." }, media] },
    ]);
    expect(await store.getBlob("s", "blob_1")).toEqual({
      mediaType: "image/png",
      size: 16,
      data: Uint8Array.from(Buffer.from(pixel, "base64")),
    });
    expect(JSON.stringify(await store.read("s"))).not.toContain(pixel);
  });

  it("alone are an answer, whose text is a placeholder", async () => {
    const model = scriptedModel([
      { media: [{ mediaType: "image/png", data: pixel }] },
      { media: [{ mediaType: "audio/wav", data: pixel }] },
    ]);
    const store = memory();
    const agent = defineAgent({ name: "a", model });
    const first = await run(agent, "Draw", { store, session: "s" });
    const second = await run(agent, "Say it", { store, session: "s" });
    expect([first.status, first.text, second.text]).toEqual([
      "done",
      "[image image/png]",
      "[audio audio/wav]",
    ]);
    expect(second.history).toHaveLength(4);
    expect(second.media.map(({ mediaType }) => mediaType)).toEqual(["audio/wav"]);
  });

  it("have their bytes in later requests only if their provider takes them back, read once", async () => {
    const store = memory();
    let reads = 0;
    const counted: typeof store = {
      ...store,
      getBlob(sessionId, handle) {
        reads += 1;
        return store.getBlob(sessionId, handle);
      },
    };
    const model = scriptedModel([
      {
        media: [
          { mediaType: "image/png", data: pixel, opaque },
          { mediaType: "image/webp", data: pixel },
        ],
      },
      { text: "Brighter." },
    ]);
    const agent = defineAgent({ name: "a", model });
    await run(agent, "Draw", { store: counted, session: "s" });
    await run(agent, "Brighter", { store: counted, session: "s" });
    expect(model.requests[1]?.history[1]).toEqual({
      type: "assistant",
      parts: [
        { type: "media", mediaType: "image/png", handle: "blob_1", size: 16, data: pixel, opaque },
        { type: "media", mediaType: "image/webp", handle: "blob_2", size: 16 },
      ],
    });
    expect(reads).toBe(1);
  });

  it("of a store that fails make the run reject instead of calling the model again", async () => {
    const model = scriptedModel([{ media: [{ mediaType: "image/png", data: pixel }] }, { text: "Again." }]);
    const store = { ...memory(), putBlob: () => Promise.reject(new Error("The disk is full.")) };
    const agent = defineAgent({ name: "a", model });
    await expect(run(agent, "Draw", { store })).rejects.toThrow("The disk is full.");
    expect(model.requests).toHaveLength(1);
  });

  it("are copied with a fork and an export, and an import drops the provider's data", async () => {
    const store = memory();
    const model = scriptedModel([{ media: [{ mediaType: "image/png", data: pixel, opaque }] }]);
    await run(defineAgent({ name: "a", model }), "Draw", { store, session: "s" });
    const file = await session(store, "s").export("json");
    const target = memory();
    const { id } = await sessions(target).import(file);
    const fork = await session(store, "s").fork(5);
    const readParts = async (from: typeof store, sessionId: string) => {
      const message = (await from.read(sessionId)).find((fact) => fact.type === "message");
      return message?.type === "message" ? message.entry.parts : [];
    };
    const media = { type: "media", mediaType: "image/png", handle: "blob_1", size: 16 };
    expect(await readParts(target, id)).toEqual([media]);
    expect(await readParts(store, fork.id)).toEqual([{ ...media, opaque }]);
    expect((await target.getBlob(id, "blob_1"))?.size).toBe(16);
    expect((await store.getBlob(fork.id, "blob_1"))?.size).toBe(16);
  });

  it("are in an HTML export as an image if nothing in them can run, else by name", async () => {
    const store = memory();
    const model = scriptedModel([
      {
        media: [
          { mediaType: "image/png", data: pixel },
          { mediaType: "image/svg+xml", data: pixel },
        ],
      },
    ]);
    await run(defineAgent({ name: "a", model }), "Draw", { store, session: "s" });
    const html = await session(store, "s").export("html");
    expect(html).toContain(`<img alt="" src="data:image/png;base64,${pixel}">`);
    expect(html).toContain("[image image/svg+xml, 1 kB → blob_2]");
    expect(await session(store, "s").export("markdown")).toContain("image/png, 1 kB → blob");
  });
});

describe("media in the input", () => {
  const pdf: MediaPart = { type: "file", mediaType: "application/pdf", data: "cGRm" };

  it("that the model cannot use are reported once per run", async () => {
    const scripted = scriptedModel([{ calls: [{ name: "none" }] }, { text: "I cannot open it." }]);
    const model = { ...scripted, acceptsMedia: ({ mediaType }: MediaPart) => mediaType === "image/png" };
    const image: MediaPart = { type: "image", mediaType: "image/png", data: pixel };
    const agent = defineAgent({ name: "a", model });
    const warnings: string[] = [];
    for await (const event of run(agent, [{ type: "text", text: "Read" }, pdf, pdf, image]))
      if (event.type === "warning" && event.code === "media_ignored") warnings.push(event.message);
    expect(warnings).toEqual([
      "The model scripted cannot use some of the media in this conversation. It got these texts instead: [file application/pdf].",
    ]);
  });

  it("that are a file at a provider are sent without it once it has expired", async () => {
    const clock = fakeClock();
    const model = scriptedModel([{ text: "Read." }, { text: "Read again." }]);
    const agent = defineAgent({ name: "a", model });
    const file = { provider: "gemini", id: "files/1", expiresAt: clock.now() + 1000 };
    const store = memory();
    await run(agent, [{ ...pdf, file }], { store, session: "s", clock });
    await clock.advance(2000);
    await run(agent, "Again", { store, session: "s", clock });
    const [first, second] = model.requests.map(({ history }) => history[0]);
    expect(first).toEqual({ type: "user", content: [{ ...pdf, file }] });
    expect(second).toEqual({ type: "user", content: [pdf] });
  });

  it("lose a reference to a provider's file in an import, because it may be another user's", async () => {
    const store = memory();
    const model = scriptedModel([{ text: "Read." }]);
    const file = { provider: "openai", id: "file-1" };
    await run(defineAgent({ name: "a", model }), [{ ...pdf, file }], { store, session: "s" });
    const target = memory();
    const { id } = await sessions(target).import(await session(store, "s").export("json"));
    const [start] = await target.read(id);
    expect(start?.type === "run_start" && start.input[0]).toMatchObject({ content: [pdf] });
    expect(JSON.stringify(start)).not.toContain("file-1");
  });
});
