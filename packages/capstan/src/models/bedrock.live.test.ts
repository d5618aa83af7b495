// The configuration at the root leaves live tests out; the package has none:
//   AWS_BEARER_TOKEN_BEDROCK=… AWS_REGION=… npx vitest run --root packages/capstan bedrock.live.test.ts
import { liveSuite } from "../testing/live-suite.ts";
import { bedrock } from "./bedrock.ts";

liveSuite("Bedrock", "AWS_BEARER_TOKEN_BEDROCK", () =>
  bedrock({ model: "global.anthropic.claude-haiku-4-5-20251001-v1:0" }),
);
