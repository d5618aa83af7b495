export type Label = {
  readonly text: string;
  /** Center of the text. */
  readonly x: number;
  readonly y: number;
  /** Available width. Unlimited if undefined. */
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

/** Estimates the width of a label. */
export function measureLabel(text: string): number {
  return text.length * characterWidth + 4;
}

/** Returns the labels that fit without overlaps. Earlier labels take precedence. */
export function placeLabels(labels: readonly Label[], occupied: readonly Box[] = []): readonly Label[] {
  const boxes = [...occupied];
  return labels.filter(({ text, x, y, room }) => {
    const width = measureLabel(text);
    if (room !== undefined && width > room) return false;
    const box = {
      left: x - width / 2,
      right: x + width / 2,
      top: y - lineHeight / 2,
      bottom: y + lineHeight / 2,
    };
    if (boxes.some((second) => overlaps(box, second))) return false;
    boxes.push(box);
    return true;
  });
}

function overlaps(first: Box, second: Box): boolean {
  return (
    first.left < second.right &&
    first.right > second.left &&
    first.top < second.bottom &&
    first.bottom > second.top
  );
}
