import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { isReadable, parseMediaType } from "./media-types.ts";

describe("a media type", () => {
  it.each([
    ["text/html", { essence: "text/html" }],
    ["Text/HTML; Charset=UTF-8", { essence: "text/html", charset: "utf-8" }],
    ['text/html;charset="utf-8"', { essence: "text/html", charset: "utf-8" }],
    ["text/html; boundary=x; charset=latin1", { essence: "text/html", charset: "latin1" }],
    ["text/html; charset=", { essence: "text/html" }],
    ["", { essence: "application/octet-stream" }],
    [undefined, { essence: "application/octet-stream" }],
  ])("is parsed from %j (A25)", (header, parsed) => {
    expect(parseMediaType(header)).toEqual(parsed);
  });

  it("is readable when it is a text, JSON, XML or PDF, and in no other case (A25, S4-41)", () => {
    const all = [
      ...[
        "text/html",
        "text/plain",
        "text/event-stream",
        "application/json",
        "application/ld+json",
        "application/pdf",
      ],
      ...[
        "application/xhtml+xml",
        "application/atom+xml",
        "application/x-ndjson",
        "image/svg+xml",
        "image/png",
      ],
      ...[
        "application/octet-stream",
        "multipart/mixed",
        "application/zip",
        "application/jsonx",
        "x/text/html",
        "text/",
      ],
      ...["application/vnd.ms-excel", "audio/mpeg", "font/woff2", "model/gltf+json", "message/rfc822"],
    ];
    expect(all.filter(isReadable)).toEqual(all.slice(0, 9));
  });

  it("is never readable because of its parameters (A25)", () => {
    assert(
      property(string({ unit: "binary" }), (header) => {
        const { essence } = parseMediaType(header);
        if (isReadable(essence)) expect(header.trim().toLowerCase().startsWith(essence)).toBe(true);
      }),
    );
  });
});
