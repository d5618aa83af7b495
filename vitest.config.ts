import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { tally } from "./scripts/tally.ts";

const long = process.env.CAPSTAN_LONG === "1";

const config: ViteUserConfig = defineConfig({
  // Workspace packages are taken from their sources, so that no build is needed.
  resolve: { conditions: ["capstan-source"] },
  ssr: { resolve: { conditions: ["capstan-source", "module", "node", "development|production"] } },
  test: {
    include: [
      "packages/*/src/**/*.test.{ts,tsx}",
      "apps/**/*.test.ts",
      "scripts/**/*.test.ts",
      "bench/**/*.test.ts",
    ],
    exclude: [
      ...configDefaults.exclude,
      "**/dist/**",
      "**/*.live.test.ts",
      ...(long ? [] : ["**/*.long.test.ts"]),
    ],
    setupFiles: ["scripts/loopback-only.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: long ? 600_000 : 10_000,
    // What is waited for comes later on a busy machine.
    expect: { poll: { timeout: 5000 } },
    // A page that was too slow once gets a second chance, and is named at the end; a wrong answer gets none.
    retry: { count: 1, condition: /Timeout \d+ms exceeded/ },
    reporters: ["default", tally()],
  },
});

export default config;
