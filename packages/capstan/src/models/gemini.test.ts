import { modelSuite } from "../testing/model-suite.ts";
import { geminiEncoder } from "../testing/wire-encoders.ts";
import { gemini } from "./gemini.ts";

const timeouts = { idleMs: 80 };

modelSuite("gemini", geminiEncoder, (baseURL) =>
  gemini({ model: "gemini-test", apiKey: "key-1234567890", baseURL, timeouts }),
);
modelSuite("gemini on vertex", geminiEncoder, (baseURL) =>
  gemini({
    model: "gemini-test",
    baseURL,
    timeouts,
    vertex: { project: "p", location: "l", token: async () => "token" },
  }),
);
