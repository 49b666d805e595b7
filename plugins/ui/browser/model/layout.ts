/** The layout of the page as the user left it, stored in the browser. */
export const panelTabs = ['fields', 'labels'] as const;
export type PanelTab = (typeof panelTabs)[number];
export const chartForms = ['lines', 'stacked', 'bars'] as const;
export type ChartForm = (typeof chartForms)[number];

export interface Layout {
  readonly tab: PanelTab;
  /** True if the side panel is open beside the result, in a window that has room for it. */
  readonly isOpen: boolean;
  readonly chart: ChartForm;
  /** True for a logarithmic scale, which only lines have. */
  readonly isLog: boolean;
}

export const usualLayout: Layout = { tab: 'fields', isOpen: true, chart: 'lines', isLog: false };

/** Parses a stored layout; invalid parts become defaults. */
export function parseLayout(text: string | null): Layout {
  try {
    const kept: unknown = JSON.parse(text ?? '');
    if (typeof kept !== 'object' || kept === null) return usualLayout;
    const read = new Map(Object.entries(kept) as [string, unknown][]);
    return {
      tab: panelTabs.find((tab) => tab === read.get('tab')) ?? usualLayout.tab,
      isOpen: read.get('isOpen') !== false,
      chart: chartForms.find((form) => form === read.get('chart')) ?? usualLayout.chart,
      isLog: read.get('isLog') === true,
    };
  } catch {
    return usualLayout;
  }
}
