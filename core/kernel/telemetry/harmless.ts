import type { Logger } from '../../base/logger.js';
import type { RequestObserver } from './request-record.js';

/** Wraps a plugin's observer: its errors are logged and do not affect requests. */
export function harmless(observer: RequestObserver, log: Logger): RequestObserver {
  const failed = (error: unknown): void => log.error('a request observer failed', { error });
  return {
    started: (record) => {
      try {
        observer.started(record);
      } catch (error) {
        failed(error);
      }
    },
    finished: (record, status, durationMs) => {
      try {
        observer.finished(record, status, durationMs);
      } catch (error) {
        failed(error);
      }
    },
  };
}
