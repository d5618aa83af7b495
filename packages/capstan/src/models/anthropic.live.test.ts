// The configuration at the root leaves live tests out; the package has none:
//   ANTHROPIC_API_KEY=… npx vitest run --root packages/capstan anthropic.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { anthropic } from "./anthropic.ts";

liveSuite("Anthropic", "ANTHROPIC_API_KEY", () => anthropic({ model: "claude-haiku-4-5" }));
