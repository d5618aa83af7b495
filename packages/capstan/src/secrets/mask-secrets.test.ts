import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskedStream, maskSecrets } from "./mask-secrets.ts";
import { listSecretForms } from "./secret-forms.ts";

const key = "sk-live/7f+Qz=9";

/** Few letters, so that secrets overlap, repeat and begin without going on. */
const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom("a", "b", '"', "\n", "%"), minLength, maxLength });
const someSecrets = fc.array(letters(6, 8), { minLength: 1, maxLength: 3 });

/** A text in which secrets occur: whole, in every form, and cut off. */
const textWith = (secrets: readonly string[]) => {
  const forms = secrets.flatMap((secret) => [...listSecretForms(secret)]);
  const cutOff = fc.tuple(fc.constantFrom(...forms), fc.nat(40)).map(([form, end]) => form.slice(0, end));
  const pieces = fc.oneof(letters(0, 4), fc.constantFrom(...forms), cutOff);
  return fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
};
const secretsAndText = someSecrets.chain((secrets) => fc.tuple(fc.constant(secrets), textWith(secrets)));

/** The definition, without regard to cost: every character of every occurrence is hidden. */
function maskedNaively(text: string, secrets: readonly string[]): string {
  const spans = secrets
    .flatMap((secret) => [...listSecretForms(secret)])
    .flatMap((form) => occurrences(text, form));
  spans.sort(([left], [right]) => left - right);
  const merged: [number, number][] = [];
  for (const [start, end] of spans) {
    const last = merged.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged.reduceRight(
    (masked, [start, end]) => `${masked.slice(0, start)}***${masked.slice(end)}`,
    text,
  );
}

function occurrences(text: string, form: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
    found.push([at, at + form.length]);
  return found;
}

describe("maskSecrets", () => {
  const bytes = Buffer.from(key);

  it.each([
    ["as it is", key],
    ["in base64", bytes.toString("base64")],
    ["in base64 without padding", bytes.toString("base64").replace(/=+$/, "")],
    ["in base64 for URLs", bytes.toString("base64url")],
    ["in hex", bytes.toString("hex")],
    ["in capital hex", bytes.toString("hex").toUpperCase()],
    ["URL-encoded", encodeURIComponent(key)],
    ["URL-encoded with small letters", encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase())],
    ["in base64, URL-encoded", encodeURIComponent(bytes.toString("base64"))],
  ])("masks a secret %s (A110, A111)", (_form, text) => {
    expect(maskSecrets([key])(`before ${text} after`)).toBe("before *** after");
  });

  it("masks a secret in a provider error, a URL and a header dump (A112)", () => {
    const mask = maskSecrets([key]);
    const address = new URL(`https://api.example/v1?q=1&key=${encodeURIComponent(key)}`).href;
    const headers = JSON.stringify({ authorization: `Bearer ${key}`, accept: "*" });
    expect(mask(`Incorrect API key provided: ${key}.`)).toBe("Incorrect API key provided: ***.");
    expect(mask(`GET ${address} 401`)).toBe("GET https://api.example/v1?q=1&key=*** 401");
    expect(mask(headers)).toBe('{"authorization":"Bearer ***","accept":"*"}');
  });

  const awkward = 'pä"ss\\wo\nrd\u001b\u2028 &x';

  it.each([
    ["once", JSON.stringify(awkward)],
    ["twice", JSON.stringify(JSON.stringify(awkward))],
    [
      "in ASCII",
      JSON.stringify(awkward).replace(
        /[^ -~]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    ],
  ])("masks a secret with quotes, newlines and non-ASCII letters that is escaped %s (A110)", (_how, text) => {
    const masked = maskSecrets([awkward])(`{"key":${text}}`);
    expect(masked.replace(/[\\"]/g, "")).toBe("{key:***}");
  });

  it("masks a form-encoded secret with non-ASCII letters (A111)", () => {
    const query = new URLSearchParams({ a: "1", key: awkward, b: "2" }).toString();
    expect(maskSecrets([awkward])(query)).toBe("a=1&key=***&b=2");
  });

  it("masks secrets that overlap or contain each other completely (A110)", () => {
    const mask = maskSecrets(["abcdef", "defghi", "abcdefgh"]);
    expect([mask("<abcdefghi>"), mask("<abcdefgh>"), mask("<abcdefabcdef>")]).toEqual([
      "<***>",
      "<***>",
      "<******>",
    ]);
  });

  it("finds a secret inside a partial match of a longer one (A110)", () => {
    expect(maskSecrets(["xabcdefy", "abcdef"])("<xabcdefz>")).toBe("<x***z>");
  });

  it("masks exactly the documented forms (A110, A111)", () => {
    fc.assert(
      fc.property(secretsAndText, ([secrets, text]) => {
        expect(maskSecrets(secrets)(text)).toBe(maskedNaively(text, secrets));
      }),
    );
  });

  it("changes nothing without secrets, and no other text", () => {
    expect(maskSecrets([])(key)).toBe(key);
    expect(maskSecrets([key])("sk-live/7f+Qz=8, sk-live")).toBe("sk-live/7f+Qz=8, sk-live");
  });

  it("finds a secret with a lone surrogate", () => {
    expect(maskSecrets(["\ud800secret"])("<\ud800secret>")).toBe("<***>");
  });

  it.each(["", "short"])("rejects the secret %j as too short, without revealing it", (secret) => {
    const refusal = expect.objectContaining({
      code: "invalid_definition",
      message: "Secret 2 cannot be masked: it must have at least 6 characters.",
    });
    expect(() => maskSecrets([key, secret])).toThrow(refusal);
    expect(() => maskedStream([key, secret])).toThrow(refusal);
  });
});

describe("maskedStream", () => {
  it("returns the same result however the text is split (A111)", () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 10 });
    fc.assert(
      fc.property(secretsAndText, cuts, ([secrets, text], places) => {
        const stream = maskedStream(secrets);
        const borders = [0, ...places.sort((left, right) => left - right), text.length];
        const pieces = borders.slice(1).map((end, index) => text.slice(borders[index], end));
        const shown = pieces.map((piece) => stream.push(piece)).join("") + stream.end();
        expect(shown).toBe(maskSecrets(secrets)(text));
      }),
    );
  });

  it("holds back only a possible start of a secret (A111)", () => {
    const stream = maskedStream(["secret-1"]);
    const shown = ["The s", "ea. A sec", "ret", "-1", "! sec"].map((piece) => stream.push(piece));
    expect([...shown, stream.end()]).toEqual(["The ", "sea. A ", "", "***", "! ", "sec"]);
  });

  it("starts a new text after its end", () => {
    const stream = maskedStream(["secret-1"]);
    expect([stream.push("secret"), stream.end(), stream.push("-1"), stream.end()]).toEqual([
      "",
      "secret",
      "-1",
      "",
    ]);
  });

  it("keeps no more than the length of a secret, however long they overlap (A111)", () => {
    const stream = maskedStream(["aaaaaaa"]);
    const shown = Array.from({ length: 200 }, () => stream.push("a".repeat(1000)));
    expect(shown.join("") + stream.push("b")).toBe("***b");
  });
});
