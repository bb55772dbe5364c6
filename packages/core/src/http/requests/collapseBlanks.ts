import type { IncomingHttpHeaders } from 'node:http';

/**
 * Makes one space of each run of blanks in `If-None-Match`, which hapi, too, reads as it sends a response with an ETag:
 * it splits the list by a pattern whose time grows with the square of a run (30 kB: more than a second, in which the
 * server answers nobody).
 */
export function collapseBlanks(headers: IncomingHttpHeaders): void {
	const list = headers['if-none-match'];
	if (list !== undefined) headers['if-none-match'] = list.replace(/\s+/g, ' ');
}
