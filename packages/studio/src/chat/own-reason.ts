/**
 * What the tool itself says of why it asks: without the last sentence of the gate, which the list of sources in the card
 * says better. Looked for from the end, so that nothing a tool or a stranger has written can hide the words before it.
 */
export function ownReason(reason: string, name: string): string {
  const ends = ["changes something", "reaches the outside"].map((does) =>
    reason.lastIndexOf(`"${name}" ${does}`),
  );
  const at = Math.max(...ends);
  return at === -1 ? reason : reason.slice(0, at).trimEnd();
}
