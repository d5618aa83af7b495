export type Label = {
  readonly text: string;
  /** The middle of the text. */
  readonly x: number;
  readonly y: number;
  /** How much room there is for it; without, it may reach over what it names. */
  readonly room?: number;
};

export type Box = {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

const characterWidth = 6.3;
const lineHeight = 15;

/** About how wide a text is at the size of labels. */
export function labelWidth(text: string): number {
  return text.length * characterWidth + 4;
}

/** Those labels that fit without one over another. The first ones win; what is in the way may be given. */
export function placeLabels(labels: readonly Label[], taken: readonly Box[] = []): readonly Label[] {
  const boxes = [...taken];
  return labels.filter(({ text, x, y, room }) => {
    const width = labelWidth(text);
    if (room !== undefined && width > room) return false;
    const box = {
      left: x - width / 2,
      right: x + width / 2,
      top: y - lineHeight / 2,
      bottom: y + lineHeight / 2,
    };
    if (boxes.some((other) => overlaps(box, other))) return false;
    boxes.push(box);
    return true;
  });
}

function overlaps(one: Box, other: Box): boolean {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}
