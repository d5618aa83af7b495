// The files of a new project, from the folder `templates` of this package. The release test installs the packed
// tarballs into such projects and runs them.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const templates = {
  chat: "an agent with a tool and a test, for the terminal",
  server: "an agent behind HTTP, with stored sessions",
  coding: "an agent that edits files and runs commands in a sandbox",
} as const;

export type TemplateName = keyof typeof templates;

/** Values that differ between projects. */
export type ProjectOptions = {
  readonly name: string;
  /** Version of our packages; all share one. */
  readonly version: string;
  readonly template?: TemplateName;
};

/** Returns path and text of each file, in reading order. */
export function buildProjectFiles(
  options: ProjectOptions,
): readonly (readonly [path: string, text: string])[] {
  const { name, template = "chat" } = options;
  const files = [...readTemplate(template), ...readTemplate("common")];
  const [first, ...rest] = files.map(([path, text]) => [path, text.replaceAll("{{name}}", name)] as const);
  return first ? [first, ["package.json", buildManifest(options)], ...rest] : [];
}

/** Names that npm would not publish, or that would take effect in this repository. */
const fileNames: { readonly [name: string]: string } = {
  gitignore: ".gitignore",
  "env.example": ".env.example",
};

function readTemplate(template: TemplateName | "common"): readonly (readonly [path: string, text: string])[] {
  const folder = join(findTemplates(), template);
  return globSync("**/*.*", { cwd: folder })
    .concat(globSync("gitignore", { cwd: folder }))
    .sort()
    .map((path) => [fileNames[path] ?? path.replaceAll("\\", "/"), readFileSync(join(folder, path), "utf8")]);
}

/** The package's folder is one level above the build, and two above this file. */
function findTemplates(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (globSync("templates/common", { cwd: folder }).length === 0) folder = dirname(folder);
  return join(folder, "templates");
}

function buildManifest({ name, version, template = "chat" }: ProjectOptions): string {
  const content = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: ">=22.19" },
    ...manifests[template](version),
    devDependencies: { "@types/node": "24.19.2" },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

type ManifestParts = { readonly scripts: object; readonly dependencies: object };

const manifests: { readonly [Name in TemplateName]: (version: string) => ManifestParts } = {
  chat: (version) => ({
    scripts: { chat: "capstan", dev: "capstan dev", test: "node --test" },
    dependencies: { "@capstan/cli": version, capstan: version },
  }),
  server: (version) => ({
    scripts: { start: "node server.ts", dev: "node --watch server.ts", test: "node --test" },
    dependencies: { "@capstan/offline": version, "@capstan/server": version, capstan: version },
  }),
  coding: (version) => ({
    scripts: { chat: "capstan", test: "node --test" },
    dependencies: { "@capstan/cli": version, "@capstan/tools": version, capstan: version },
  }),
};
