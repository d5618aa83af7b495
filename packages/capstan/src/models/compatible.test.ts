import { modelSuite } from "../testing/model-suite.ts";
import { openAiChatEncoder } from "../testing/wire-encoders.ts";
import { compatible } from "./compatible.ts";

modelSuite("compatible", openAiChatEncoder, (baseURL) => compatible({ model: "any", baseURL }));
