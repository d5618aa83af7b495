const fence = /^\s*(?:`{3,}|~{3,})/;

/** A passage as a person reads it: without the signs around code. What is code stays as it is. */
export function passageText(markdown: string): string {
  let isCode = false;
  const lines: string[] = [];
  for (const line of markdown.split("\n"))
    if (fence.test(line)) isCode = !isCode;
    else lines.push(isCode ? line : line.replace(/(`+)([^`]+)\1/g, "$2"));
  return lines.join("\n").trim();
}
