import { parseColumnChoice, withColumn, type ColumnChoice } from '../model/lines/label-columns.js';
import { Store } from './store.js';

const key = 'ref-proxy.columns';

/** The user's choice of columns, stored in the browser. */
export const columnChoice = new Store<ColumnChoice>(parseColumnChoice(localStorage.getItem(key)));

/** Shows or hides a label beside each line. */
export function showColumn(name: string, isShown: boolean): void {
  columnChoice.set(withColumn(columnChoice.state, name, isShown));
  try {
    localStorage.setItem(key, JSON.stringify(columnChoice.state));
  } catch {
    // The store is full or not permitted: the choice is kept while the page is open.
  }
}
