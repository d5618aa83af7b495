import type { AgentInfo } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { AgentDetails } from "./agent-details.tsx";

it("the description of a skill shows its invisible characters, because a skill becomes instructions (A135)", () => {
  const skill = { name: "notes", description: "Writes\u200b notes.", provenance: "external" } as const;
  const agent = { name: "a", models: [], tools: [], handoffs: [], skills: [skill] } as unknown as AgentInfo;
  expect(renderToStaticMarkup(<AgentDetails agent={agent} />)).toContain("Writes\\u{200b} notes.");
});
