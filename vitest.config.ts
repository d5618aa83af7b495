import { join } from "node:path";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { createTallyReporter } from "./scripts/tally-reporter.ts";

const long = process.env.CAPSTAN_LONG === "1";

/** Tests that leave nothing behind in their process share workers, so that each of these loads the sources once. */
const sharedFolders = [
  "agents",
  "base",
  "client",
  "engines",
  "evals",
  "features",
  "kernel",
  "logs",
  "memories",
  "models",
  "runtime",
  "schedules",
  "schema",
  "secrets",
  "sessions",
  "stores",
  "testing",
  "trace",
];
const sharedTests = [
  "packages/capstan/src/*.test.ts",
  `packages/capstan/src/{${sharedFolders}}/**/*.test.ts`,
  "packages/offline/src/**/*.test.ts",
  "packages/studio/src/{apps,chat,data,evals,inspector,markdown,mcp,pages,replay,runs,shell,ui,widgets}/**/!(*.browser).test.{ts,tsx}",
  "scripts/!(block-network|build|examples|guides|programs|start|tutorial).test.ts",
];
/** Share workers among themselves, and the built packages: they start programs. */
const sharedProgramTests = [
  "packages/cli/src/!(packed).test.ts",
  "packages/{cli/src/*,code-mode/src,local/src,restate/src,verification/src}/**/*.test.ts",
  "bench/*.test.ts",
  "scripts/{examples,guides,programs}.test.ts",
];
/** Share workers among themselves: the adapters of other frameworks that they load replace `Response`. */
const sharedServerTests = [
  "packages/{mcp,tools}/src/**/*.test.ts",
  "packages/server/src/{mounting,routes/mcp*}.test.ts",
  "apps/**/!(*.browser).test.ts",
];
/** Share workers among themselves, except for those that load such an adapter or change the process. */
const sharedRouteTests = [
  "packages/server/src/{access,event-views,http,own-data,protocols,runs,sessions,views}/**/*.test.ts",
  "packages/server/src/webhooks/!(signature).test.ts",
  "packages/server/src/!(drain-on-signals|mounting).test.ts",
  "packages/server/src/{routes/!(mcp),telemetry/!(telemetry)}.test.ts",
];
/** Share workers among themselves, and each worker's browser. */
const browserTests = ["packages/studio/src/**/*.browser.test.ts", "apps/*/*.browser.test.ts"];
const excludedTests = [
  ...configDefaults.exclude,
  "**/dist/**",
  "**/*.live.test.ts",
  ...(long ? [] : ["**/*.long.test.ts"]),
];

const config: ViteUserConfig = defineConfig({
  // Workspace packages are taken from their sources, so that no build is needed.
  resolve: { conditions: ["capstan-source"] },
  ssr: { resolve: { conditions: ["capstan-source", "node", "development|production"] } },
  test: {
    globalSetup: ["scripts/temporary-folder.ts"],
    setupFiles: ["scripts/loopback-only.ts", "scripts/patient-waits.ts"],
    // Tests start several hundred processes from the same sources: compile each file once.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile") },
    pool: "forks",
    // Twice the cores of a small machine: many tests wait for a browser, a process or a socket.
    maxWorkers: 4,
    // Guards against hanging, not limits on speed: a test waits for a state, however busy the machine is.
    testTimeout: long ? 600_000 : 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 180_000 } },
    reporters: ["default", createTallyReporter()],
    projects: [
      {
        extends: true,
        test: { name: "shared", include: sharedTests, exclude: excludedTests, isolate: false },
      },
      {
        extends: true,
        test: {
          name: "programs",
          globalSetup: ["scripts/built-workspace.ts"],
          include: sharedProgramTests,
          exclude: excludedTests,
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "servers", include: sharedServerTests, exclude: excludedTests, isolate: false },
      },
      {
        extends: true,
        test: { name: "routes", include: sharedRouteTests, exclude: excludedTests, isolate: false },
      },
      {
        extends: true,
        test: { name: "browsers", include: browserTests, exclude: excludedTests, isolate: false },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          globalSetup: ["scripts/built-workspace.ts"],
          include: [
            "packages/*/src/**/*.test.{ts,tsx}",
            "apps/**/*.test.ts",
            "scripts/**/*.test.ts",
            "bench/**/*.test.ts",
            "hosts/*.test.ts",
          ],
          exclude: [
            ...[...excludedTests, ...sharedTests, ...sharedProgramTests, ...sharedServerTests],
            ...[...sharedRouteTests, ...browserTests],
          ],
        },
      },
    ],
  },
});

export default config;
