// The configuration at the root leaves live tests out; the package has none:
//   AZURE_OPENAI_API_KEY=… AZURE_OPENAI_ENDPOINT=… npx vitest run --root packages/capstan azure.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { azure } from "./azure.ts";

liveSuite("Azure OpenAI", "AZURE_OPENAI_API_KEY", () =>
  azure({ model: process.env.AZURE_OPENAI_DEPLOYMENT ?? "gpt-5-mini" }),
);
