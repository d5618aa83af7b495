import { describe, expect, it } from "vitest";
import { checkWorldAccess, findImports, readSources, type Source } from "./architecture.ts";

// The files that may open a connection. Addresses from a model, a page or a server go through the guarded client of the
// tools; model clients connect only to the provider the developer configured.
const guardedClient = ["packages/tools/src/web/"];
const modelClients = [
  "packages/capstan/src/models/post.ts",
  "packages/capstan/src/models/default-model.ts", // passes `fetch` to the next
  "packages/capstan/src/models/local-servers.ts", // looks for model servers on this machine
  "packages/capstan/src/models/google-credentials.ts", // looks for a file of credentials
  "packages/capstan/src/models/files/send-file-request.ts", // uploads files to the provider
];
/** Connects to the Capstan server the caller names. */
const ownClient = ["packages/capstan/src/client/environment.ts"];
/** Connects to the configured servers; OAuth follows their metadata, within `oauth/check-destination.ts`. */
const mcpClients = ["packages/mcp/src/client/"];
/** Define their own `fetch`, which answers requests, and a listener for tests. */
const mcpServer = ["mcp-handler.ts", "knowledge-tools.ts", "legacy-sessions.ts", "testing/listen.ts"].map(
  (file) => `packages/mcp/src/server/${file}`,
);
/** Listens, parses addresses, and defines its own `fetch`, which answers requests. */
const server = ["create-server.ts", "listen.ts", "http/guard.ts", "http/security-headers.ts"].map(
  (file) => `packages/server/src/${file}`,
);
/** The command line runs a server, checks whether a port is free, and downloads models. */
const cli = [
  "serve/reloadable-server.ts",
  "serve/start-server.ts",
  "commands/doctor/check-port.ts",
  "commands/models/download-file.ts", // downloads the model that the user names
  "serve/engine/trial-server.ts", // starts a Restate server on this machine
].map((file) => `packages/cli/src/${file}`);
/** Connects to the Restate server that the operator configures, and listens for its calls. */
const engines = ["packages/restate/src/endpoint.ts", "packages/restate/src/ingress.ts"];
/** Serves fake providers and databases on loopback for tests. */
const testKits = [
  "packages/capstan/src/testing/cloud-server.ts",
  "packages/capstan/src/testing/recording-provider.ts",
  "packages/capstan/src/testing/model-suite.ts",
  "packages/verification/src/conformance/",
  "packages/verification/src/outages/",
  "packages/verification/src/postgres/",
  "packages/verification/src/buses/",
  "packages/verification/src/find-free-port.ts",
  "packages/verification/src/restate/",
  "packages/cli/src/testing/",
  "packages/server/src/testing/",
  // The canary of hostile apps, and their pages, which a browser runs.
  "packages/studio/src/testing/hostile/canary.ts",
  "packages/studio/src/testing/hostile/hostile-app.ts",
];
/** Looks up the modules of Node that start the process of an isolated tool. */
const isolation = ["packages/capstan/src/kernel/isolation.ts"];
/** Passes the browser's `fetch` to the client and checks the response. */
const studio = ["packages/studio/src/data/sign-in.ts"];
const allowed = [
  ...guardedClient,
  ...modelClients,
  ...ownClient,
  ...mcpClients,
  ...mcpServer,
  ...server,
  ...cli,
  ...engines,
  ...isolation,
  ...studio,
  ...testKits,
];

const network =
  /^(?:node:)?(?:https?|http2|net|tls|dgram|dns|dns\/promises|inspector|quic)$|^(?:undici|ws|axios|got|node-fetch|ky|superagent)(?:\/|$)/;
const uses = {
  "fetch()": /(?<![\w$.]|function )fetch\(|globalThis\.fetch\b|(?:=|\?\?|\|\|)\s*fetch\b(?!:)/,
  "a socket of the web":
    /\bnew (?:WebSocket|EventSource|XMLHttpRequest|WebTransport|RTCPeerConnection)\b|\bsendBeacon\(/,
  "modules by name": /\bgetBuiltinModule\b|\bprocess\.binding\b/,
};

function checkConnections(sources: readonly Source[]): string[] {
  const others = sources.filter(
    ({ path }) => !allowed.some((place) => (place.endsWith("/") ? path.startsWith(place) : path === place)),
  );
  const imported = others.flatMap(({ path, text }) =>
    findImports(text)
      .filter((specifier) => network.test(specifier))
      .map((specifier) => `${path} must not import "${specifier}": have the guarded client do it.`),
  );
  return [...imported, ...checkWorldAccess(others, "", { uses, allowedIn: [] })];
}

describe("the sources of this workspace", () => {
  const root = `${import.meta.dirname}/..`;
  const sources = readSources(root, ["packages/*/src/**/*.{ts,tsx}"]);

  it("open connections only in the guarded client and in the model clients (C15)", () => {
    expect(checkConnections(sources)).toEqual([]);
  });

  it("contain every allowed file", () => {
    const gone = allowed.filter((place) => !sources.some(({ path }) => path.startsWith(place)));
    expect(gone).toEqual([]);
  });
});

describe("the check of connections", () => {
  it.each([
    'import { request } from "node:http";',
    'import { request } from "https";',
    'import type { Socket } from "node:net";',
    'import { connect } from "node:tls";',
    'import { lookup } from "node:dns/promises";',
    'import { createSocket } from "node:dgram";',
    'import { Agent } from "undici";',
    'const { request } = await import("undici/types");',
    'export { request } from "node:http2";',
    "await fetch(url);",
    "const send = globalThis.fetch;",
    "const { send = fetch } = options;",
    "const send = options.fetch ?? fetch;",
    'new WebSocket("wss://example.com");',
    "new EventSource(url);",
    'process.getBuiltinModule("node:http");',
  ])("finds %s", (text) => {
    const path = "packages/tools/src/plan-tool.ts";
    expect(checkConnections([{ path, text }])).toEqual([expect.stringContaining(path)]);
    expect(checkConnections([{ path: "packages/tools/src/web/open-socket.ts", text }])).toEqual([]);
  });

  it.each([
    'import { guardedFetch } from "./web/guarded-client.ts";',
    'import { readFile } from "node:fs/promises";',
    "// fetch(url) would be wrong here",
    "const { fetch, model } = options;",
    "webFetch();",
    "await io.fetch(url);",
    'const scheme = "http";',
  ])("lets %s pass", (text) => {
    expect(checkConnections([{ path: "packages/tools/src/plan-tool.ts", text }])).toEqual([]);
  });
});
