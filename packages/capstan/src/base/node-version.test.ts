import { expect, it } from "vitest";
import { assertNodeVersion } from "./node-version.ts";

it.each(["18.20.8", "20.20.2", "22.18.0"])("refuses Node %s and names the one it needs", (version) => {
  expect(() => assertNodeVersion(version)).toThrow(
    expect.objectContaining({ code: "unsupported_node", message: expect.stringContaining("Node 22.19") }),
  );
});

it.each(["22.19.0", "22.20.1", "24.0.0", "26.1.0"])("accepts Node %s", (version) => {
  expect(() => assertNodeVersion(version)).not.toThrow();
});
