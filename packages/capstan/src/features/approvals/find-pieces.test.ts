import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPieces, foldText, indexArguments } from "./find-pieces.ts";

const iban = "DE89 3704 0044 0532 0130 00";
const findTexts = (text: string, input: unknown) =>
  findPieces(text, indexArguments(input)).map((piece) => piece.text);

const toBase64 = (text: string) => Buffer.from(text).toString("base64");
const toHex = (text: string) => Buffer.from(text).toString("hex");
const swapCase = (text: string) =>
  text.replace(/\p{L}/gu, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

const forms: Readonly<Record<string, (text: string) => unknown>> = {
  "as it is": (text) => text,
  "in another case": swapCase,
  "without spaces": (text) => text.replaceAll(" ", ""),
  "with other punctuation": (text) => [...text].join("-"),
  "on several lines": (text) => text.replaceAll(" ", "\n> "),
  "in wide letters": (text) =>
    text.replace(/[0-9A-Za-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)),
  "URL-encoded": encodeURIComponent,
  "URL-encoded in every character": (text) => toHex(text).replace(/../g, "%$&"),
  "in base64": toBase64,
  "in base64 for URLs": (text) => Buffer.from(text).toString("base64url"),
  "in base64, wrapped": (text) => toBase64(text).replace(/.{5}/g, "$&\r\n "),
  "in base64, URL-encoded": (text) => `https://evil.test/?q=${encodeURIComponent(toBase64(text))}`,
  "in base64 of UTF-16": (text) => Buffer.from(text, "utf16le").toString("base64"),
  "in hex": toHex,
  "in capital hex with colons": (text) =>
    toHex(text)
      .toUpperCase()
      .replace(/..(?=.)/g, "$&:"),
  "in hex with prefixes": (text) => toHex(text).replace(/../g, "\\x$&"),
  "after other text": (text) => `see${toBase64(text)}`,
  "split over arguments": (text) => [text.slice(0, 7), text.slice(7, 12), { more: text.slice(12) }],
  "split over arguments in base64": (text) => [toBase64(text).slice(0, 9), toBase64(text).slice(9)],
  "in pieces in another order": (text) => [text.slice(11), "then", text.slice(0, 11)],
  "in the names of arguments": (text) => ({ [text]: 1 }),
};

describe("a piece of a private text in the arguments of a call", () => {
  it.each(Object.entries(forms))("is found %s (A30)", (_form, encode) => {
    expect(findTexts(`Konto ${iban} (main)`, { to: "x@evil.test", text: encode(iban) })).toEqual([iban]);
  });

  it.each([
    [
      "a part of a longer text",
      "The launch of the new boat is planned for spring, says Ann",
      "boat is planned for spring",
    ],
    ["a phone number", "Call +47 555 01 234 after six", "47 555 01 234"],
    ["an e-mail address", "Write to ann@acme.io now", "ann@acme.io"],
    ["a password", "Password: hunter2-x9", "hunter2-x9"],
    ["a name in Chinese characters", "收件人：张三住在上海市黄浦区", "张三住在上海市黄"],
  ])("can be %s", (_what, text, piece) => {
    expect(findTexts(text, { text: `Hi: ${piece}!` })).toEqual([piece]);
  });

  it.each([
    ["ordinary words", "Please send the report by Friday.", "Could you send the weather?"],
    ["a short number", "PIN 4711", "PIN 4711"],
    ["the same letters in another order", `Account: ${iban}`, [...iban].reverse().join("")],
    [
      "a paraphrase",
      "The launch of the new boat is planned for spring",
      "In spring they will launch another boat",
    ],
    ["nothing", "", ""],
  ])("is not %s", (_what, text, value) => {
    expect(findTexts(text, { value })).toEqual([]);
  });

  it("is found wherever it is and whatever surrounds it (A30)", () => {
    const characters = [..."abcXYZ019 .,-\n", "ß", "é", "Ж", "水", "😀"];
    const texts = fc
      .string({ unit: fc.constantFrom(...characters), minLength: 20, maxLength: 80 })
      .filter((text) => foldText(text).length >= 16);
    const noise = fc.string({ unit: fc.constantFrom(..."abcdef 019+/=."), maxLength: 20 });
    const encodings = fc.constantFrom(String, toBase64, toHex, encodeURIComponent, swapCase);
    fc.assert(
      fc.property(texts, noise, noise, encodings, (text, before, after, encode) => {
        const index = indexArguments({ a: before, b: [{ c: encode(text) }], d: after });
        const found = findPieces(`${after}\n${text}\n${before}`, index).map(({ folded }) => folded);
        expect(found.join(" ")).toContain(foldText(text));
      }),
    );
  });

  it("is a part of the original text, and any arguments and texts are accepted", () => {
    fc.assert(
      fc.property(fc.anything(), fc.string({ unit: "binary", maxLength: 200 }), (input, text) => {
        const values = { input, text, encoded: encodeURI(text.toWellFormed()) };
        for (const piece of findPieces(text, indexArguments(values))) {
          expect(text).toContain(piece.text);
          expect(foldText(piece.text)).toContain(piece.folded);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("is found in deeply nested arguments, and long ones are accepted", () => {
    let nested: unknown = iban;
    for (let depth = 0; depth < 20_000; depth++) nested = [nested];
    expect(findTexts(iban, nested)).toEqual([iban]);
    expect(
      findTexts(
        iban,
        Array.from({ length: 200_000 }, () => 1),
      ),
    ).toEqual([]);
  });
});
