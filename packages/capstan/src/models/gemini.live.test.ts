// The configuration at the root leaves live tests out; the package has none:
//   GEMINI_API_KEY=… npx vitest run --root packages/capstan gemini.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { gemini } from "./gemini.ts";

liveSuite("Gemini", "GEMINI_API_KEY", () => gemini({ model: "gemini-2.5-flash" }));
