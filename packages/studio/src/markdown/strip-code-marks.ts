const fence = /^\s*(?:`{3,}|~{3,})/;

/** Removes backticks and fences around code. The code itself stays unchanged. */
export function stripCodeMarks(markdown: string): string {
  let isCode = false;
  const lines: string[] = [];
  for (const line of markdown.split("\n"))
    if (fence.test(line)) isCode = !isCode;
    else lines.push(isCode ? line : line.replace(/(`+)([^`]+)\1/g, "$2"));
  return lines.join("\n").trim();
}
