import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { createTallyReporter } from "./scripts/tally-reporter.ts";

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
    // Guards against hanging, not limits on speed: a test waits for a state, however busy the machine is.
    testTimeout: long ? 600_000 : 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ["default", createTallyReporter()],
  },
});

export default config;
