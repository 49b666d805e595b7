/** A query refused because of its content. The message is for its author and may quote the query. */
export class RefusedQuery extends Error {}
