import type { HostedKind, HostedToolSpec } from "capstan";
import fc from "fast-check";

type Options<Kind extends HostedKind> = Extract<HostedToolSpec, { kind: Kind }>["options"];

const domains = fc.array(fc.constantFrom("example.com", "docs.example.org"), { minLength: 1, maxLength: 2 });
const maxUses = fc.integer({ min: 1, max: 10 });
const userLocation = fc.record(
  {
    city: fc.constant("Oslo"),
    region: fc.constant("Oslo"),
    country: fc.constant("NO"),
    timezone: fc.constant("Europe/Oslo"),
  },
  { requiredKeys: [] },
);
const dimension = fc.integer({ min: 600, max: 2000 });

/** Options of every kind. A new kind does not compile without a row. */
const options: { readonly [Kind in HostedKind]: fc.Arbitrary<Options<Kind>> } = {
  webSearch: fc.record(
    { allowedDomains: domains, blockedDomains: domains, maxUses, userLocation },
    { requiredKeys: [] },
  ),
  webFetch: fc.record({ allowedDomains: domains, blockedDomains: domains, maxUses }, { requiredKeys: [] }),
  codeExecution: fc.constant({}),
  toolSearch: fc.constant({}),
  fileSearch: fc.record(
    { stores: fc.constantFrom(["vs_1"], ["vs_1", "vs_2"]), maxResults: fc.integer({ min: 1, max: 50 }) },
    { requiredKeys: ["stores"] },
  ),
  imageGeneration: fc.record(
    {
      size: fc.constantFrom("1024x1024", "1024x1536"),
      quality: fc.constantFrom("low", "medium", "high"),
      format: fc.constantFrom("png", "webp", "jpeg"),
    },
    { requiredKeys: [] },
  ),
  mcp: fc.record(
    {
      ...{ label: fc.constant("wiki"), url: fc.constant("https://example.com/mcp") },
      ...{ allowedTools: fc.constant(["search"]), approval: fc.constantFrom("always", "never") },
      token: fc.constant("token-1"),
    },
    { requiredKeys: ["label", "url"] },
  ),
  computer: fc.record(
    {
      ...{ displayWidth: dimension, displayHeight: dimension },
      environment: fc.constantFrom("browser", "linux", "mac", "windows"),
    },
    { requiredKeys: ["displayWidth", "displayHeight"] },
  ),
};

const names: { readonly [Kind in HostedKind]: string } = {
  ...{ webSearch: "web_search", webFetch: "web_fetch", codeExecution: "code_execution", mcp: "wiki" },
  ...{ fileSearch: "file_search", imageGeneration: "image_generation", computer: "computer" },
  toolSearch: "tool_search",
};

/** Hosted tools of different kinds. */
export const randomHosted: fc.Arbitrary<readonly HostedToolSpec[]> = fc
  .uniqueArray(fc.constantFrom(...(Object.keys(options) as HostedKind[])), { minLength: 1, maxLength: 4 })
  .chain((kinds) => fc.tuple(...kinds.map(createHosted)));

function createHosted(kind: HostedKind): fc.Arbitrary<HostedToolSpec> {
  const spec: fc.Arbitrary<unknown> = options[kind].map((chosen) => ({
    kind,
    options: chosen,
    name: names[kind],
  }));
  return spec as fc.Arbitrary<HostedToolSpec>;
}
