import {
  namesPlace,
  parsePlace,
  withPlace,
  type PipelinePlace,
  type PipelineTab,
} from '../model/pipeline-place.js';
import { Store } from './store.js';

/** The open tab and part of the pipeline view, which stand in the page's URL. */
class PipelinePlaces {
  readonly store = new Store<PipelinePlace>(parsePlace(location.hash));

  constructor() {
    addEventListener('popstate', () => {
      if (new URLSearchParams(location.hash.replace(/^#/, '')).get('view') === 'pipeline')
        this.store.set(parsePlace(location.hash));
    });
  }

  /** Called when the view opens: the URL decides, unless it names no place. */
  enter(): void {
    if (namesPlace(location.hash)) this.store.set(parsePlace(location.hash));
    else this.#write();
  }

  showTab(tab: PipelineTab): void {
    this.store.set({ tab, part: undefined });
    this.#write();
  }

  /** Opens a part, or closes it if it is open. */
  toggle(part: string): void {
    this.store.set({ part: this.store.state.part === part ? undefined : part });
    this.#write();
  }

  #write(): void {
    history.replaceState(history.state, '', withPlace(location.hash, this.store.state));
  }
}

export const pipelinePlaces = new PipelinePlaces();
