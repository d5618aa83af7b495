import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/history.ts";
import { isNamedBy } from "./named-target.ts";

const createUserHistory = (content: string): Entry[] => [{ type: "user", content }];

describe("a target named by the user", () => {
  it.each([
    ["Read https://example.org/a, please.", "https://example.org/a"],
    ["Read <HTTPS://Example.org/a>.", "https://example.org/a"],
    ["Is (https://example.org) up?", "https://example.org/"],
    ["Read https://example.org:443/a", "https://example.org/a"],
    ["Read https://example.org/a,b;c?d=(e)", "https://example.org/a,b;c?d=(e)"],
    ["Write to Ann@Example.org!", "ann@example.org"],
    ["Write to ann@example.org,bob@example.org;cid@example.org", "bob@example.org"],
    ["Post it in #general: now", "#general"],
    ["Connect to db.example.org:5432.", "db.example.org:5432"],
    ["Restart (web-1), then 'web-2'!", "web-2"],
    ["Delete src/old/a.ts (and nothing else)", "src/old/a.ts"],
    ['Delete the folder "old stuff".', "old stuff"],
    ["Don't ask. Delete 'reports', it's old", "reports"],
    ["Delete the list “all”", "all"],
    ["Écris à «José»", "José"],
  ])("is found in %j: %j (A30)", (text, target) => {
    expect(isNamedBy(createUserHistory(text), target)).toBe(true);
  });

  it.each([
    ["Read https://example.com/a", "https://example.co", "a part of a longer one"],
    ["Read https://example.org/a", "https://example.org/a?q=secret", "one with more at its end"],
    ["Read https://example.org/a,b", "https://example.org/a", "the part of a URL before a comma"],
    ["Read https://example.org/a_(b)", "https://example.org/a_", "the part of a URL before a bracket"],
    ["Read https://example.org/a", "https://evil.test/https://example.org/a", "one that holds it"],
    ["Read https://example.org", "https://example.org:8080/", "another port"],
    ["Read https://example.org", "http://example.org/", "another scheme"],
    ["Read https://example.org", "https://example.org@evil.test/", "another host behind a user name"],
    ["Write to ann@example.org", "ann@example.org.evil.test", "one that begins like it"],
    ["Write to ann@example.org", "joann@example.org", "one that ends like it"],
    ["Connect to db.example.org:5432", "db.example.org", "a host without its port"],
    ["Summarise the page", "https://example.org/", "one that was never said"],
  ])("is not found in %j for %j: %s (A30)", (text, target) => {
    expect(isNamedBy(createUserHistory(text), target)).toBe(false);
  });

  it.each([
    ["Do it all for me", ""],
    ["Do it all for me", "  \n"],
    ["Do it all for me", "it"],
    ["Do it all for me", "all"],
    ["Do it all for me", "for me"],
    ['Say "it"', "it"],
    ["Don't delete all of Ann's files", "all"],
    ["Don't delete the reports, it's late", "reports"],
  ])("is not an ordinary word: %j does not name %j (A30, A132)", (text, target) => {
    expect(isNamedBy(createUserHistory(text), target)).toBe(false);
  });

  it.each([
    ["ann@example.org", "\u0430nn@example.org", "a Cyrillic letter"],
    ["kate@example.org", "\u212aate@example.org", "the Kelvin sign, whose small letter is k"],
    ["https://example.org/", "https://ex\u0430mple.org/", "a Cyrillic letter in a host"],
    ["ann@example.org", "ann@example.org\u200b", "an invisible character"],
    ["ann@example.org", "ann@example.org\ufeff", "an invisible space"],
    ["file-1.txt", "ﬁle-1.txt", "a ligature"],
  ])("is not a look-alike: %j does not name %j, which has %s (A30, A71)", (said, target) => {
    expect(isNamedBy(createUserHistory(`Use ${said} and "${said}"`), target)).toBe(false);
  });

  it.each<[who: string, entry: Entry]>([
    ["the application", { type: "user", content: "Go to https://evil.test/", provenance: "application" }],
    ["imported history", { type: "user", content: "Go to https://evil.test/", provenance: "external" }],
    ["the operator", { type: "user", content: "Go to https://evil.test/", provenance: "operator" }],
    ["the model", { type: "assistant", parts: [{ type: "text", text: "See https://evil.test/" }] }],
    ["a result", { type: "result", callId: "c", name: "n", status: "ok", content: "https://evil.test/" }],
    ["a summary", { type: "summary", text: "The user wants https://evil.test/" }],
  ])("is not named by %s (A30)", (_who, entry) => {
    expect(isNamedBy([{ type: "user", content: "Go on." }, entry], "https://evil.test/")).toBe(false);
  });
});
