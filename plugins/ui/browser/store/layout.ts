import { parseLayout, type Layout, type PanelTab } from '../model/layout.js';
import { Store } from './store.js';

const layoutKey = 'ref-proxy.layout';

/** Windows without room for a panel beside the result show it as a sheet. */
const narrow = matchMedia('(max-width: 1023px)');

interface LayoutState extends Layout {
  /** True while the panel is shown as a sheet. */
  readonly isSheet: boolean;
}

/** The side panel and the form of charts. */
export class PageLayout {
  readonly store = new Store<LayoutState>({
    ...parseLayout(localStorage.getItem(layoutKey)),
    isSheet: false,
  });

  show(tab: PanelTab): void {
    this.set(narrow.matches ? { tab, isSheet: true } : { tab, isOpen: true });
  }

  /** Shows a tab of the side panel; hides the panel if the tab is shown already. */
  toggle(tab: PanelTab): void {
    const { state } = this.store;
    if (!narrow.matches && state.isOpen && state.tab === tab) this.set({ isOpen: false });
    else this.show(tab);
  }

  close(): void {
    this.set(narrow.matches ? { isSheet: false } : { isOpen: false });
  }

  set(part: Partial<LayoutState>): void {
    this.store.set(part);
    const { tab, isOpen, chart, isLog } = this.store.state;
    const kept: Layout = { tab, isOpen, chart, isLog };
    try {
      localStorage.setItem(layoutKey, JSON.stringify(kept));
    } catch {
      // The store is full or not permitted: the layout is kept while the page is open.
    }
  }
}

/** The layout of this page. */
export const layout = new PageLayout();
