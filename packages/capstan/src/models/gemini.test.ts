import { modelSuite } from "../testing/model-suite.ts";
import { geminiEncoder } from "../testing/wire-encoders.ts";
import { gemini } from "./gemini.ts";

modelSuite("gemini", geminiEncoder, (baseURL) =>
  gemini({ model: "gemini-test", apiKey: "key-1234567890", baseURL }),
);
modelSuite("gemini on vertex", geminiEncoder, (baseURL) =>
  gemini({
    model: "gemini-test",
    baseURL,
    vertex: { project: "p", location: "l", token: async () => "token" },
  }),
);
