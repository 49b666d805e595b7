/** Something that runs until it is closed. */
export interface Service {
  close(): Promise<void>;
  reload?(): Promise<void>;
}

/**
 * Runs a service until SIGTERM or SIGINT, then closes it; SIGHUP reloads it. A second SIGTERM or SIGINT ends the process at once,
 * for whoever does not want to wait for the drain.
 */
export async function runUntilSignal(service: Service): Promise<number> {
  const onHangup = (): void => void service.reload?.();
  process.on('SIGHUP', onHangup);
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
  const abandon = (): void => process.exit(1);
  process.once('SIGTERM', abandon);
  process.once('SIGINT', abandon);
  try {
    await service.close();
    return 0;
  } finally {
    process.off('SIGHUP', onHangup);
    process.off('SIGTERM', abandon);
    process.off('SIGINT', abandon);
  }
}
