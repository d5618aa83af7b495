import { createServer, type Server } from "@capstan/server";
import { helper } from "./agent.ts";

const unlimited = Number.POSITIVE_INFINITY;
let server: Server | undefined;

const worker: { fetch(request: Request): Promise<Response> } = {
  fetch(request) {
    // Workers may start timers and read random numbers only while they handle a request.
    server ??= createServer({
      agents: [helper],
      basePath: "/agents",
      // A lost connection ends its request without a word, so the server cannot count what is active.
      quotas: { default: { concurrentRuns: "unlimited", streams: "unlimited" } },
      maxRuns: unlimited,
      load: { maxStreams: unlimited, maxRequests: unlimited, maxDelayMs: unlimited },
    });
    return server.fetch(request);
  },
};
// biome-ignore lint/style/noDefaultExport: what Workers look for
export default worker;
