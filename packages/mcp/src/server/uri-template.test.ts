import { UriTemplate } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readCpuMs } from "../../../capstan/src/testing/cpu-time.ts";

/** How long matching may take for a text of this size, if it is linear: far more than it needs, far less than 2 to the n. */
const longestMs = 1_000;

it.each([
  "files{/id*}",
  "files{?id*}",
  "files{;id*}",
  "files{/id*}{/more*}",
  "files/{id}/{more}",
])("the template %s is matched against a crafted URI in linear time (A62)", (template) => {
  const matcher = new UriTemplate(template);
  const attacks = [
    "/".repeat(100_000),
    `${"/a".repeat(50_000)}\u0000`,
    `files${"/,".repeat(50_000)}!`,
    `files?${"id=a&".repeat(20_000)}#`,
  ];
  for (const uri of attacks) {
    const start = readCpuMs();
    try {
      matcher.match(uri);
    } catch (error) {
      expect(error).toBeInstanceOf(Error); // refused for its size is as good
    }
    expect(readCpuMs() - start).toBeLessThan(longestMs);
  }
});

it("one of our templates round-trips any id (A62)", () => {
  const template = new UriTemplate("session:///{id}");
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/), (id) => {
      expect(template.match(template.expand({ id }))).toEqual({ id });
    }),
  );
});
