// Next bundles packages unless they are listed. These load optional packages only when they are needed.
// biome-ignore lint/style/noDefaultExport: what Next looks for
export default { serverExternalPackages: ["@capstan/server", "capstan"] };
