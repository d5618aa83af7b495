// The configuration at the root leaves live tests out; the package has none:
//   OPENAI_API_KEY=… npx vitest run --root packages/capstan openai.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { openai } from "./openai.ts";

liveSuite("OpenAI", "OPENAI_API_KEY", () => openai({ model: "gpt-5-mini" }));
