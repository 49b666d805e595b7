/** A query that is refused for what it says. The message is for who wrote it: it may quote the query. */
export class RefusedQuery extends Error {}
