import type { ComponentChildren, JSX } from 'preact';

/** Values beside the pointer, on the side with more room. */
export function ChartTip({
  at,
  width,
  title,
  children,
}: {
  /** Distance from the left edge of the chart in pixels. */
  readonly at: number;
  readonly width: number;
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const isLeft = at > width / 2;
  const place = isLeft ? { right: `${width - at + 14}px` } : { left: `${at + 14}px` };
  return (
    <div class="chart-tip" style={place}>
      <p class="tip-title">{title}</p>
      <ul>{children}</ul>
    </div>
  );
}
