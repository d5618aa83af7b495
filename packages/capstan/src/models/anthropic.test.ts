import { modelSuite } from "../testing/model-suite.ts";
import { anthropicEncoder } from "../testing/wire-encoders.ts";
import { anthropic } from "./anthropic.ts";

modelSuite("anthropic", anthropicEncoder, (baseURL) =>
  anthropic({ model: "claude-test", apiKey: "key-1234567890", baseURL }),
);
