// The exports of a tarball, as bundlers, Node and TypeScript resolve them.
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** Reports what publint and "are the types wrong" find in a tarball. */
export async function checkExports(tarball: Uint8Array<ArrayBuffer>): Promise<string[]> {
  return [...(await lintPackage(tarball)), ...(await checkTypes(tarball))];
}

async function lintPackage(tarball: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { buffer, byteOffset, byteLength } = tarball;
  const content = buffer.slice(byteOffset, byteOffset + byteLength);
  const { messages, pkg = {} } = await publint({ pack: { tarball: content }, strict: true });
  return messages.map((message) => `${pkg.name}: ${formatMessage(message, pkg, { color: false })}`);
}

async function checkTypes(tarball: Uint8Array): Promise<string[]> {
  const files = createPackageFromTarballData(tarball);
  const { exports = {} } = JSON.parse(files.readFile(`/node_modules/${files.packageName}/package.json`));
  const result = await checkPackage(files, { excludeEntrypoints: listUntyped(exports) });
  if (!result.types) return []; // a package of commands only
  return result.problems.flatMap((problem) => {
    // The packages are ES modules with `exports`, which the resolution of Node 10 does not know.
    if (problem.kind === "CJSResolvesToESM") return [];
    const { entrypoint = "", resolutionKind = "" } = problem as {
      entrypoint?: string;
      resolutionKind?: string;
    };
    if (resolutionKind === "node10") return [];
    return [`${files.packageName}: ${problem.kind} at ${entrypoint} with ${resolutionKind}`];
  });
}

/** Returns the subpaths that are commands, or exist in this workspace only. */
function listUntyped(exports: { readonly [subpath: string]: string | object }): string[] {
  return Object.entries(exports)
    .filter(([, entry]) => typeof entry === "string" || !("default" in entry))
    .map(([subpath]) => subpath);
}
