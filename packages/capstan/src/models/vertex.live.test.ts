// The configuration at the root leaves live tests out; the package has none:
//   GOOGLE_CLOUD_PROJECT=… npx vitest run --root packages/capstan vertex.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { vertex } from "./vertex.ts";

liveSuite("Vertex", "GOOGLE_CLOUD_PROJECT", () => vertex({ model: "gemini-2.5-flash" }));
liveSuite("Vertex with Claude", "GOOGLE_CLOUD_PROJECT", () => vertex({ model: "claude-haiku-4-5" }));
