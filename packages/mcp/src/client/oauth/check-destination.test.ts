import fc from "fast-check";
import { expect, it } from "vitest";
import { checkDestination } from "./check-destination.ts";

const problem = (server: string, url: string) => checkDestination(new URL(server), new URL(url));

const outside = "https://mcp.example.com/mcp";
const here = "http://127.0.0.1:3000/mcp";

it("lets a server on the internet name others on the internet, with https", () => {
  for (const url of [
    "https://auth.example.com/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://mcp.example.com/x",
  ])
    expect(problem(outside, url)).toBeUndefined();
  for (const url of [
    "http://auth.example.com/",
    "http://mcp.example.com/",
    "ftp://auth.example.com/",
    "javascript:1",
  ])
    expect(problem(outside, url)).toBe("it is not https");
});

it.each([
  ...[
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.0.1",
  ],
  ...["100.64.0.1", "[::1]", "[::]", "[::ffff:10.0.0.1]", "[fd00::1]", "[64:ff9b::a00:1]", "[2002:a00:1::]"],
  ...["localhost", "LOCALHOST.", "a.localhost", "printer", "printer.local", "db.internal"],
])("does not let a server on the internet name %s", (host) => {
  expect(problem(outside, `https://${host}/`)).toContain("in a private network");
});

it("lets a server on this computer name http URLs on it, but no other server", () => {
  expect(problem(here, "http://localhost:4000/")).toBeUndefined();
  expect(problem(here, "http://[::1]:4000/")).toBeUndefined();
  expect(problem(here, "https://10.0.0.1/")).toBeUndefined();
  expect(problem(here, "http://10.0.0.1/")).toBe("it is not https");
  expect(problem(here, "http://auth.example.com/")).toBe("it is not https");
  expect(problem("https://10.0.0.1/mcp", "http://127.0.0.1/")).toBe("it is not https");
});

it("never lets a link-local address be named", () => {
  for (const server of [outside, here, "https://10.0.0.1/"])
    for (const host of ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"])
      expect(problem(server, `https://${host}/`)).toBe("it is a link-local address");
});

it("finds every spelling of a loopback address", () => {
  const anyAddress = fc.integer({ min: 0x7f000000, max: 0x7fffffff });
  fc.assert(
    fc.property(anyAddress, (value) => {
      for (const host of [
        String(value),
        `0x${value.toString(16)}`,
        `0${value.toString(8)}`,
        `127.${value & 0xffffff}`,
      ])
        expect(problem(outside, `https://${host}/`)).toContain("private network");
    }),
  );
});

it("rejects URLs with credentials or of extreme length", () => {
  expect(problem(outside, "https://mcp.example.com@auth.example.com/")).toBe("it contains credentials");
  expect(problem(outside, `https://auth.example.com/${"a".repeat(8192)}`)).toContain("longer");
});
