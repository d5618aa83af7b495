import { AgentError } from "capstan";
import { describe, expect, it } from "vitest";
import { createRequestCounter } from "./request-counter.ts";

describe("the count of requests", () => {
  it("stops a run of 10,000 at 100, and one host at 60 in a minute (A31)", () => {
    const count = createRequestCounter({}, () => 0);
    let counted = 0;
    const codes = new Set<string>();
    const flood = (host: (index: number) => string, run: string) => {
      for (let index = 0; index < 10_000; index += 1) {
        try {
          count(host(index), run);
          counted += 1;
        } catch (error) {
          codes.add(error instanceof AgentError ? `${error.code} ${error.retryable}` : "unknown");
        }
      }
    };
    flood((index) => `host-${index}.example.com`, "one");
    expect(counted).toBe(100);
    flood(() => "example.org", "two");
    expect(counted).toBe(160);
    expect([...codes]).toEqual(["too_many_calls false"]);
  });

  it("drops old entries to bound memory", () => {
    let time = 0;
    const count = createRequestCounter({ perRun: 2, perHost: 1 }, () => time);
    count("example.com", "a");
    expect(() => count("example.com", "b")).toThrow("per minute");
    time = 60_001;
    count("example.com", "a");
    for (let index = 0; index < 10_001; index += 1) count(`${index}.example.com`, `run-${index}`);
    count("example.net", "a"); // its count was the oldest
  });
});
