import { apiError } from '../../core/base/errors/table.js';

/** The namespace and group of a rules path, decoded; the group is empty on routes without one. */
export interface RulesPath {
  readonly namespace: string;
  readonly group: string;
}

// Control characters stand in no name of a file or group.
const control = /\p{Cc}/u;

/** Reads the names of a path; both may hold slashes, which clients send encoded. Throws ApiError for what can be no name. */
export function readRulesPath(pathParams: ReadonlyMap<string, string>): RulesPath {
  const namespace = pathParams.get('namespace') ?? '';
  const group = pathParams.get('group') ?? '';
  if (namespace.trim() === '' || control.test(namespace) || control.test(group)) {
    throw apiError('badRulesPath', {});
  }
  // A rules backend may look the name up as a file.
  if (namespace.split(/[/\\]/).includes('..')) throw apiError('rulesPathTraversal', {});
  return { namespace, group };
}
