// For the live tests only: OPENAI_API_KEY=… npx vitest run --config apps/graph/live.config.ts
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  resolve: { conditions: ["capstan-source"] },
  ssr: { resolve: { conditions: ["capstan-source", "module", "node", "development|production"] } },
  test: { include: ["apps/graph/*.live.test.ts"], testTimeout: 180_000 },
});

export default config;
