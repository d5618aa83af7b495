import { modelSuite } from "../testing/model-suite.ts";
import { openAiChatEncoder, openAiResponsesEncoder } from "../testing/wire-encoders.ts";
import { openai } from "./openai.ts";

const common = { model: "gpt-test", apiKey: "sk-test-1234567890" };

modelSuite("openai (chat)", openAiChatEncoder, (baseURL) => openai({ ...common, api: "chat", baseURL }));
modelSuite("openai (responses)", openAiResponsesEncoder, (baseURL) =>
  openai({ ...common, api: "responses", baseURL }),
);
