import { describe, expect, it } from "vitest";
import { extractHtml } from "./extract-html.ts";
import { toCitablePage } from "./page-fragments.ts";

const url = "https://tides.example/bergen?year=2026";

describe("the passages of a page", () => {
  it("are its sections, with the heading in the title and its anchor in the link", async () => {
    const filler = "<p>The harbour office measures the level every ten minutes and publishes it.</p>".repeat(
      5,
    );
    const page = `<!doctype html><html><head><title>Tides</title></head><body><article>
      <h1>Tides</h1><p>All about the tides in this harbour.</p>${filler}
      <h2 id="high-water">High <em>water</em></h2><p>It is at 6:40.</p>${filler}
      <h2><a id="low"></a>Low water</h2><p>It is at 12:50.</p>${filler}
      <section id="sources"><h2>Sources</h2><p>The office.</p>${filler}</section>
      <h2>No anchor</h2><p>A last word.</p></article></body></html>`;
    const { contexts: fragments, text } = toCitablePage(await extractHtml(page, url), url);
    expect(fragments.map(({ source }) => [source.title, source.url?.replace(url, "")])).toEqual([
      ["Tides", ""],
      ["Tides: High water", "#high-water"],
      ["Tides: Low water", "#low"],
      ["Tides: Sources", "#sources"],
      ["Tides: No anchor", ""],
    ]);
    expect(fragments[1]?.content).toMatch(/^It is at 6:40\./);
    expect(text).toContain(`(passage ${fragments[1]?.id})\n\nIt is at 6:40.`);
  });

  it("have an id that changes with their content, so that a number always means the same text", () => {
    const [first] = toCitablePage({ text: "# A\n\none" }, url).contexts;
    const [again] = toCitablePage({ text: "# A\n\none" }, url).contexts;
    const [other] = toCitablePage({ text: "# A\n\ntwo" }, url).contexts;
    expect(first?.id).toBe(again?.id);
    expect(first?.id).not.toBe(other?.id);
  });

  it("are limited in number and length, ignore headings in code, and are one for a page without headings", () => {
    const text = Array.from({ length: 50 }, (_, index) => `## Part ${index}\n\n${"x".repeat(2000)}`).join(
      "\n\n",
    );
    const fragments = toCitablePage({ title: "Long", text }, url).contexts;
    expect(fragments).toHaveLength(20);
    expect(fragments[0]?.content).toHaveLength(501);
    expect(toCitablePage({ text: "Intro\n\n```sh\n# not a heading\n```\n" }, url).contexts).toMatchObject([
      { content: "Intro\n\n```sh\n# not a heading\n```", source: { title: url, url } },
    ]);
    expect(toCitablePage({ text: "" }, url)).toEqual({ text: "", contexts: [] });
  });

  it("encode an anchor that a page chose, so that it stays an anchor", () => {
    const anchors = { A: 'x" onclick=alert(1) #y' };
    const [fragment] = toCitablePage({ text: "# A\n\none", anchors }, `${url}#old`).contexts;
    expect(fragment?.source.url).toBe(`${url}#x%22%20onclick%3Dalert(1)%20%23y`);
  });
});
