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
export const lineHeight = 15;
const font = '600 11px "Inter Variable", system-ui, sans-serif';

let context: CanvasRenderingContext2D | null | undefined;

/** Measures a label in the font of drawings; estimates it where there is no page. */
export function measureLabel(text: string): number {
  if (context === undefined)
    context = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  if (!context) return text.length * characterWidth + 4;
  if (context.font !== font) context.font = font;
  return context.measureText(text).width + 4;
}

/** Returns the box of a label. */
export function getLabelBox({ text, x, y }: Label): Box {
  const halfWidth = measureLabel(text) / 2;
  return { left: x - halfWidth, right: x + halfWidth, top: y - lineHeight / 2, bottom: y + lineHeight / 2 };
}

/** Returns the labels that fit without overlaps. Earlier labels take precedence. */
export function placeLabels(labels: readonly Label[], occupied: readonly Box[] = []): readonly Label[] {
  const boxes = [...occupied];
  return labels.filter((label) => {
    const box = getLabelBox(label);
    if (label.room !== undefined && box.right - box.left > label.room) return false;
    if (boxes.some((other) => overlaps(box, other))) return false;
    boxes.push(box);
    return true;
  });
}

export function overlaps(first: Box, second: Box): boolean {
  return (
    first.left < second.right &&
    first.right > second.left &&
    first.top < second.bottom &&
    first.bottom > second.top
  );
}
