import { Maximize, Minus, Plus } from "lucide-react";
import { type ReactNode, useContext, useMemo, useRef, useState } from "react";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { usePanZoom } from "../drawing/use-pan-zoom.ts";
import { useSize } from "../drawing/use-size.ts";
import { Choice, TextAlternative, WidgetFrame, WidgetRoom } from "../widget-frame.tsx";
import type { MapLevel, MapPin, MapProps } from "../widget-props.ts";
import { categoryStyles, listCategories } from "./map-categories.ts";
import { MapDrawing } from "./map-drawing.tsx";
import { createProjection } from "./map-projection.ts";

/** A map of levels with pins and a route. Loads nothing. */
export function MapWidget(props: MapProps): ReactNode {
  const { title, levels, pins = [], route } = props;
  const [shown, setShown] = useState(() => ({ props, levelId: chooseLevel(props) }));
  const container = useRef<HTMLDivElement>(null);
  const size = useSize(container);
  const projection = useMemo(() => createProjection(props, size), [props, size]);
  const { view, zoom, reset, zoomTo, handlers } = usePanZoom(container, size);
  const isPanel = useContext(WidgetRoom) === "panel";
  // When the props change, show the level and position of the new content.
  if (shown.props !== props) {
    setShown({ props, levelId: chooseLevel(props, shown.levelId) });
    if (pins.length > 0 || route) reset();
  }
  const { levelId } = shown;
  const setLevelId = (next: string) => setShown({ props, levelId: next });
  const level = levels.find(({ id }) => id === levelId) ?? levels[0];
  const showPin = (pin: MapPin): void => {
    setLevelId(pin.level);
    const [x, y] = projection.project(pin.at);
    zoomTo([{ x, y }]);
  };
  return (
    <WidgetFrame
      label="Map"
      title={title}
      tools={
        levels.length > 1 && (
          <Choice
            label="Level"
            options={levels.map(({ id, name }) => ({ value: id, name: escapeBidi(name) }))}
            value={level?.id ?? ""}
            onChoose={setLevelId}
          />
        )
      }
    >
      <div className={classNames("relative", isPanel && "flex min-h-48 flex-1 flex-col")}>
        <div
          ref={container}
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys pan the map
          tabIndex={0}
          aria-label={`Map of ${escapeBidi(level?.name ?? "")}. Arrow keys pan, plus and minus zoom, 0 shows all.`}
          className={classNames(
            "cursor-grab touch-pan-y select-none overflow-hidden bg-sunken active:cursor-grabbing focus-visible:-outline-offset-2",
            isPanel ? "min-h-0 flex-1" : "h-[360px]",
          )}
          {...handlers}
        >
          {level && <MapDrawing map={props} level={level} projection={projection} view={view} size={size} />}
        </div>
        {/* Large buttons would cover a part of the map. */}
        <div className="absolute right-2 bottom-2 flex flex-col rounded-md border bg-raised pointer-coarse:static pointer-coarse:flex-row pointer-coarse:justify-end pointer-coarse:rounded-none pointer-coarse:border-x-0 pointer-coarse:border-b-0">
          <IconButton label="Zoom in" onClick={() => zoom(1.5)}>
            <Plus size={16} />
          </IconButton>
          <IconButton label="Zoom out" onClick={() => zoom(1 / 1.5)}>
            <Minus size={16} />
          </IconButton>
          <IconButton label="Show all" onClick={reset}>
            <Maximize size={14} />
          </IconButton>
        </div>
      </div>
      {level && <Legend features={level.features} />}
      {(pins.length > 0 || route) && (
        <TextAlternative summary="Places and steps" isOpen={isPanel}>
          <MapText map={props} onShow={showPin} />
        </TextAlternative>
      )}
    </WidgetFrame>
  );
}

function Legend({ features }: Pick<MapLevel, "features">): ReactNode {
  const categories = listCategories(features);
  if (categories.length === 0) return null;
  return (
    <ul
      aria-label="Categories"
      className="flex flex-wrap gap-x-3 gap-y-1 border-t px-3 py-1.5 text-quiet text-xs"
    >
      {categories.map((category) => {
        const { name, Icon, color } = categoryStyles[category];
        return (
          <li key={category} className="flex items-center gap-1">
            <Icon size={13} color={color} strokeWidth={2.2} aria-hidden="true" />
            {name}
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the level with content, or the previous one. */
function chooseLevel({ levels, level, pins = [], route }: MapProps, previousId?: string): string {
  const preferredId = level ?? route?.points[0]?.level ?? pins[0]?.level ?? previousId;
  return levels.find(({ id }) => id === preferredId)?.id ?? levels[0]?.id ?? "";
}

type MapTextProps = { readonly map: MapProps; readonly onShow: (pin: MapPin) => void };

function MapText({ map, onShow }: MapTextProps): ReactNode {
  const { levels, pins = [], route } = map;
  const getLevelName = (id: string): string =>
    escapeBidi(levels.find((level) => level.id === id)?.name ?? id);
  return (
    <>
      {pins.length > 0 && (
        <ul>
          {pins.map((pin, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pin labels are not unique
            <li key={index} className="py-0.5">
              <button
                type="button"
                onClick={() => onShow(pin)}
                className="text-left text-accent underline decoration-accent/40 underline-offset-2"
              >
                {escapeBidi(pin.label)}
              </button>
              <span className="text-quiet">
                {pin.look === "here" && ", you are here"}, {getLevelName(pin.level)}
                {pin.note !== undefined && `. ${escapeBidi(pin.note)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {route?.steps && (
        <ol className="mt-2 list-decimal pl-5">
          {route.steps.map((text, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps are not unique
            <li key={index} className="py-0.5">
              {escapeBidi(text)}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
