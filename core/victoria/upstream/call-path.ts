/** Calls are named by the name of a query endpoint, `streams`, or by a path, `/delete/run_task`. */
export function isPath(type: string): boolean {
  return type.startsWith('/');
}

export function pathOf(type: string): string {
  return isPath(type) ? type : `/select/logsql/${type}`;
}
