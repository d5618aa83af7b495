import type { CallToolResult } from "@modelcontextprotocol/client";
import { assert, dictionary, jsonValue, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { truncateMessage } from "../transport/connect-server.ts";
import { toToolReturn } from "./tool-result.ts";

type Content = CallToolResult["content"][number];
const text = (words: string): Content => ({ type: "text", text: words });

describe("the result of a server (S4-43)", () => {
  it("is its text, line by line", () => {
    expect(toToolReturn({ content: [text("one"), text("two")] })).toEqual({ content: "one\ntwo" });
    expect(toToolReturn({ content: [] })).toEqual({ content: "" });
  });

  it.each<[Content, object]>([
    [
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "image", mediaType: "image/png", data: "AA==" },
    ],
    [
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "file", mediaType: "audio/wav", data: "AA==" },
    ],
    [
      { type: "resource", resource: { uri: "file:///a.bin", blob: "AA==" } },
      { type: "file", mediaType: "application/octet-stream", data: "AA==" },
    ],
    [
      { type: "resource", resource: { uri: "file:///a.gz", blob: "AA==", mimeType: "application/gzip" } },
      { type: "file", mediaType: "application/gzip", data: "AA==" },
    ],
  ])("has parts for content that is not text: %j", (item, part) => {
    expect(toToolReturn({ content: [text("see"), item] })).toEqual({
      content: [{ type: "text", text: "see" }, part],
    });
  });

  it("names links and does not follow them (A53)", () => {
    const link: Content = {
      ...{ type: "resource_link", uri: "http://169.254.169.254/latest", name: "meta" },
      description: "All about it",
    };
    const expected = "[link to http://169.254.169.254/latest (meta: All about it)]";
    expect(toToolReturn({ content: [link] })).toEqual({ content: expected });
  });

  it("has the text of an embedded resource under its address", () => {
    const resource: Content = { type: "resource", resource: { uri: "note://1", text: "milk" } };
    expect(toToolReturn({ content: [resource] })).toEqual({ content: "[note://1]\nmilk" });
  });

  it("names an unknown kind of content", () => {
    const odd = { type: "hologram", data: "" } as unknown as Content;
    expect(toToolReturn({ content: [odd] })).toEqual({ content: "[hologram]" });
  });

  it("is an error with the server's text, or a default one", () => {
    const failed = { isError: true };
    expect(toToolReturn({ content: [text("no disk")], ...failed })).toEqual({
      error: "no disk",
      content: "no disk",
    });
    expect(toToolReturn({ content: [], ...failed })).toEqual({ error: "The tool failed." });
    const picture: Content = { type: "image", data: "AA==", mimeType: "image/png" };
    expect(toToolReturn({ content: [picture], ...failed })).toMatchObject({
      error: "The tool failed.",
      content: [{ type: "image" }],
    });
  });

  it("contains equal text and structured content once, whatever the formatting", () => {
    assert(
      property(dictionary(string(), jsonValue()), (given) => {
        const structuredContent = JSON.parse(JSON.stringify(given));
        const turned = Object.fromEntries(Object.entries(structuredContent).reverse());
        for (const written of [JSON.stringify(turned), JSON.stringify(structuredContent, undefined, 2)])
          expect(toToolReturn({ content: [text(written)], structuredContent })).toEqual({
            data: structuredContent,
          });
      }),
    );
  });

  it("keeps text that differs from the structured content", () => {
    const structuredContent = { celsius: 7 };
    const said = { content: "It is cold.", data: structuredContent };
    expect(toToolReturn({ content: [text("It is cold.")], structuredContent })).toEqual(said);
    expect(toToolReturn({ content: [text('{"celsius":8}')], structuredContent })).toMatchObject({
      content: '{"celsius":8}',
    });
    expect(toToolReturn({ content: [], structuredContent })).toEqual({ data: structuredContent });
  });

  it("of a million items is truncated with a note (A53)", () => {
    const content = new Array<Content>(1_000_000).fill(text("x"));
    truncateMessage({ jsonrpc: "2.0", id: 1, result: { content } });
    const { content: said } = toToolReturn({ content });
    expect(String(said).split("\n")).toHaveLength(1_001);
    expect(said).toMatch(/\(999000 more items omitted\)$/);
  });
});
